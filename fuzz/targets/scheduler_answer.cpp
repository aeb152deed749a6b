// SPDX-License-Identifier: MIT
// Answers of schedulers, as each of them is asked: a status is one that can be, and belongs to the job.
#include "base/text/text.hpp"
#include "fuzz/fuzz_target.hpp"
#include "schedulers/client/node_cores.hpp"
#include "schedulers/job/node_list.hpp"
#include "schedulers/job/scheduler.hpp"
#include "schedulers/pbs/pbs_answers.hpp"
#include "schedulers/slurm/slurm_answers.hpp"

#include <iterator>

using namespace ddlrun;
using namespace ddlrun::schedulers;

DDLRUN_FUZZ_TARGET(scheduler_answer) {
  constexpr SchedulerKind kinds[] = {SchedulerKind::slurm, SchedulerKind::pbs, SchedulerKind::torque};
  const SchedulerKind kind = kinds[fuzz::take_byte(input) % std::size(kinds)];
  const auto scheduler = make_scheduler(kind);
  ProcessResult answer;
  answer.out = input;
  const std::vector<JobId> ids = {"1", "3[].minsky1", "0.minsky1"};
  const auto states =
      fuzz::accepted([&] { return scheduler->read_states(ids, [&](const Command&) { return answer; }); });
  for (const auto& [id, status] : states.value_or(std::map<JobId, JobStatus>())) {
    fuzz::require(status.id == id, "a status belongs to its job", status.id);
    fuzz::require(!status.exit_status || is_over(status.state), "only a job that is over has a status", id);
    fuzz::require(status.exit_status.value_or(0) >= 0 && status.exit_status.value_or(0) < 256,
                  "an exit status is one of a process", id);
    fuzz::require(status.signal >= 0 && status.signal <= 64, "a signal is one of the kernel's", id);
  }
  fuzz::accepted([&] { return scheduler->read_submission(answer); });
  fuzz::accepted([&] { return scheduler->read_cancellation("1", answer); });
  const auto nodes = kind == SchedulerKind::slurm ? parse_sinfo_nodes(input) : parse_pbsnodes_json(input);
  const NodeCores cores = summarize_node_cores(nodes, "q", "sinfo");
  fuzz::require_printable(cores.source + cores.counts);
}
