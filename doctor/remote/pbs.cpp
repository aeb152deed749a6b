// SPDX-License-Identifier: MIT
#include "doctor/remote/pbs.hpp"

#include "base/os/self_executable.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/remote/agent_protocol.hpp"

#include <fmt/format.h>

#include <set>

namespace ddlrun::doctor {

std::size_t find_pbs_node(std::string_view nodefile, const std::string& host) {
  std::set<std::string_view> nodes;
  std::size_t index = 0;
  for (const std::string_view line : split(nodefile, '\n')) {
    const std::string_view name = trim(line);
    if (name.empty()) continue;
    if (name == host || name.substr(0, name.find('.')) == host) return index;
    nodes.insert(name);
    ++index;
  }
  throw Error(ErrorKind::request,
              {fmt::format("{} is not among the {} hosts of this PBS job", printable(host, 80), nodes.size()),
               "PBS_NODEFILE", "sort -u $PBS_NODEFILE"});
}

PbsExchange::PbsExchange(System& system, const AgentBinary& agent) : system_(system), agent_(agent) {
  const std::string path = system.environment.get("PBS_NODEFILE");
  if (path.empty()) {
    throw Error(ErrorKind::usage, {"--via pbsdsh works inside a PBS job only, and PBS_NODEFILE is not set",
                                   "environment", "qsub -I, then the same command there"});
  }
  nodefile_ = system.files.read(path, 16u << 20);
  dir_ = system.files.make_directory(system.environment.workdir + "/.ddlrun-doctor-");
  if (const std::string why = system.files.foreign_owner(dir_); !why.empty()) {
    system.files.remove(dir_);
    throw Error(ErrorKind::request, {"requests to other hosts are not safe in this directory: " + why,
                                     system.environment.workdir, "ddlrun doctor in another directory"});
  }
}

PbsExchange::~PbsExchange() {
  written_.push_back(dir_);
  for (const std::string& file : written_) {
    try {
      system_.files.remove(file);
    } catch (const Error&) {
    }
  }
}

std::string PbsExchange::file_of(const ProbeRequest& request, std::string_view kind) const {
  return fmt::format("{}/{}.{}", dir_, request.host, kind);
}

ExpectSession PbsExchange::plan(const ProbeRequest& request) {
  const std::string asked = file_of(request, "request");
  const std::string answered = file_of(request, "response");
  system_.files.write(asked, render_probe_request_json(request));
  written_.push_back(asked);
  written_.push_back(answered);
  ExpectSession conversation;
  conversation.command = {"pbsdsh", "-n", std::to_string(find_pbs_node(nodefile_, request.host)), "--"};
  const Command agent =
      guard_own_path({agent_.path, "agent", "--id", agent_.id, "--request", asked, "--response", answered});
  conversation.command.insert(conversation.command.end(), agent.begin(), agent.end());
  return conversation;
}

void PbsExchange::collect(const ProbeRequest& request, ProcessResult& result) {
  const std::string answered = file_of(request, "response");
  if (system_.files.exists(answered)) result.out = system_.files.read(answered, max_response_bytes + 4096);
}

}  // namespace ddlrun::doctor
