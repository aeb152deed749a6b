// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_losses.hpp"

#include <fmt/format.h>

#include <string>

namespace ddlrun::job_scripts {

bool can_carry_requeue(const JobScript& script, const ResourceRequest& request) {
  return request.requeue.value_or(false) && (script.dialect == Dialect::slurm || !request.array);
}

std::vector<Unsupported> find_losses(const JobScript& script, const ResourceRequest& request) {
  std::vector<Unsupported> losses;
  const auto leave = [&](std::string text, std::string why, bool wrong) {
    losses.push_back({0, std::move(text), std::move(why), wrong});
  };
  if (!request.not_hosts.empty())
    leave("without " + request.not_hosts, "no key; try directives: [\"--exclude=...\"]", true);
  if (!request.error.empty() && request.error != request.output)
    leave("a file for stderr", "both streams go to the output", false);
  if (can_carry_requeue(script, request))
    leave("requeue",
          "requeue: yes also starts the job again, at most 3 times, when the program exits with 75, or with "
          "another failure after `signal`",
          false);
  else if (request.requeue.value_or(false))
    leave("requeue", "the tasks of an array of PBS have no key for it", true);
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
