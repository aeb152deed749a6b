// SPDX-License-Identifier: MIT
// The hosts that mpirun's launch tree makes this one start: each reached by ssh, as orted does it.
//   child.count     how many there are
//   child.N.host    the name
//   child.N.result  "ok", or ssh's last message
// At most 8 connections at once; no host is another's child, so none gets more than one.
#include "base/text/text.hpp"
#include "doctor/gather/name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

constexpr unsigned children_at_once = 8;
constexpr std::size_t most_children = 128;

std::string result_of(const ProcessResult& result) {
  if (result.ok()) return "ok";
  if (result.timed_out) return "no answer within 12 s";
  if (!result.start_error.empty()) return "ssh cannot be started: " + printable(result.start_error, 100);
  std::string last;
  for (const std::string_view line : split(result.err, '\n')) {
    if (!trim(line).empty()) last = printable(trim(line), 300);
  }
  return last.empty() ? fmt::format("ssh ended with status {}", result.exit_status) : last;
}

}  // namespace

void gather_children(const GatherContext& context, Facts& facts) {
  std::vector<std::string> children = context.request.launch_children;
  facts.set("child.count", children.size());
  if (children.size() > most_children) children.resize(most_children);
  std::vector<Command> commands;
  for (const std::string& child : children) {
    commands.push_back({"ssh", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o", "ForwardAgent=no",
                        "--", child, "true"});
  }
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(12);
  limits.output_bytes = 64u << 10;
  const auto results = context.system.processes.run_many(commands, limits, children_at_once);
  for (std::size_t i = 0; i < results.size(); ++i) {
    facts.set(fmt::format("child.{}.host", i), children[i]);
    facts.set(fmt::format("child.{}.result", i), result_of(results[i]));
  }
}

}  // namespace ddlrun::doctor
