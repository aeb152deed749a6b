// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_losses.hpp"

#include <fmt/format.h>

#include <string>

namespace ddlrun::job_scripts {

std::vector<Unsupported> find_losses(const JobScript& script, const ResourceRequest& request) {
  std::vector<Unsupported> losses;
  const auto leave = [&](std::string text, std::string why, bool wrong) {
    losses.push_back({0, std::move(text), std::move(why), wrong});
  };
  if (!request.not_hosts.empty())
    leave("without " + request.not_hosts, "no key; try directives: [\"--exclude=...\"]", true);
  if (!request.error.empty() && request.error != request.output)
    leave("a file for stderr", "both streams go to the output", false);
  if (request.requeue.value_or(false))
    leave("requeue",
          "with requeue: yes a program that exits with status 75 starts again; the scheduler's own restart "
          "after a lost host is not requested",
          false);
  if (request.hold) leave("hold", "no key: the job is queued at once", true);
  if (!request.begin.empty()) leave("begin " + request.begin, "no key; try directives", true);
  if (request.priority) leave(fmt::format("priority {}", *request.priority), "no key; try directives", true);
  if (request.exported == Export::all && script.dialect == Dialect::pbs)
    leave("-V",
          "the whole environment is not passed on: environment: [NAME, NCCL_*] names what the ranks need",
          false);
  return losses;
}

}  // namespace ddlrun::job_scripts
