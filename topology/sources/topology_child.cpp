// SPDX-License-Identifier: MIT
#include "topology/sources/topology_child.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <optional>

namespace ddlrun::topology {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t memory_limit = 0;
#else
constexpr std::uint64_t memory_limit = 1u << 30;
#endif

// The message that the child's own error handler printed, read back from render_error's form.
std::optional<Message> parse_rendered_error(std::string_view text) {
  constexpr std::string_view what = "ddlrun: error: ", at = "  at:  ", hint = "  try: ";
  std::optional<Message> message;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(what)) message = Message{std::string(line.substr(what.size())), "", ""};
    if (message && line.starts_with(at)) message->where = line.substr(at.size());
    if (message && line.starts_with(hint)) message->hint = line.substr(hint.size());
  }
  if (message && message->hint.empty()) return std::nullopt;
  return message;
}

std::string how_reader_ended(const ProcessResult& result, const ProcessLimits& limits) {
  if (!result.start_error.empty()) return "the reader could not be started: " + result.start_error;
  if (result.timed_out) return fmt::format("the reader took longer than {} s", limits.timeout.count() / 1000);
  if (result.truncated) return fmt::format("the reader wrote more than {} bytes", limits.output_bytes);
  if (result.signal != 0) return fmt::format("the reader ended by signal {}", result.signal);
  return fmt::format("the reader ended with status {}", result.exit_status);
}

}  // namespace

ProcessLimits reader_limits() {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(15);
  limits.memory_bytes = memory_limit;
  limits.cpu_seconds = 10;
  return limits;
}

void check_child(const ProcessResult& result, const std::string& where, const ProcessLimits& limits) {
  if (result.ok() && !result.truncated) return;
  const bool refused = result.exit_status == exit_code(ErrorKind::request) && !result.timed_out;
  if (const auto message = parse_rendered_error(result.err); refused && message) {
    throw Error(ErrorKind::request, *message);
  }
  throw Error(ErrorKind::request, {"hwloc could not load it: " + how_reader_ended(result, limits), where,
                                   "create it again on that machine: lstopo machine.xml"});
}

std::string read_in_child(System& system, const std::vector<std::string>& arguments, const std::string& where,
                          const ProcessLimits& limits) {
  Command command{system.environment.executable, "read-topology"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessResult result = system.processes.run(command, limits);
  check_child(result, where, limits);
  return std::move(result.out);
}

std::string read_in_child(System& system, const std::vector<std::string>& arguments,
                          const std::string& where) {
  return read_in_child(system, arguments, where, reader_limits());
}

}  // namespace ddlrun::topology
