// SPDX-License-Identifier: MIT
// Damaged answers: no reader crashes, throws anything but its own Error, or takes garbage for a job's end of
// another id. DDLRUN_MUTATIONS=20000 for a long run.
#include "base/text/error.hpp"
#include "schedulers/job/scheduler.hpp"
#include "schedulers/pbs/pbs_answers.hpp"
#include "schedulers/slurm/slurm_answers.hpp"
#include "tests/support/mutate.hpp"
#include "tests/unit/schedulers/recorded.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;
using tests::answered;
using tests::FakeAsk;

namespace {

// What is said of the ids requested, whatever the command answers. True if an answer was read.
bool holds(const Scheduler& scheduler, const std::vector<JobId>& ids, const FakeAsk& ask) {
  try {
    const auto states = scheduler.read_states(ids, ask);
    REQUIRE(states.size() == ids.size());
    for (const auto& [id, status] : states) {
      CHECK(status.id == id);
      CHECK((!status.exit_status || is_over(status.state)));
      CHECK((status.exit_status.value_or(0) >= 0 && status.exit_status.value_or(0) < 256));
      CHECK((status.signal >= 0 && status.signal <= 64));
    }
    return true;
  } catch (const Error& error) {
    CHECK_FALSE(error.message().hint.empty());
    return false;
  }
}

struct Source {
  SchedulerKind kind;
  const char* file;
  std::vector<JobId> ids;
};

}  // namespace

TEST_SUITE_BEGIN("schedulers/answers_fuzz");

TEST_CASE("damaged answers of any scheduler") {
  const Source sources[] = {
      {SchedulerKind::pbs, "pbs/08_x_all.json", {"0.minsky1", "3[].minsky1", "1.minsky1"}},
      {SchedulerKind::pbs, "pbs/16_deleted_while_running.json", {"5.minsky1"}},
      {SchedulerKind::pbs, "pbs/08_x_all.txt", {"0.minsky1", "3[].minsky1"}},
      {SchedulerKind::torque, "pbs/02_qstat_R.txt", {"0.minsky1"}},
      {SchedulerKind::slurm, "slurm/24_squeue_mid.txt", {"1", "6", "3", "8"}},
      {SchedulerKind::slurm, "slurm/24_scontrol_mid.txt", {"1", "6", "3", "8"}},
      {SchedulerKind::slurm, "slurm/09_sacct_X.txt", {"3", "5", "7"}},
  };
  const std::uint64_t rounds = tests::mutation_rounds(60);
  for (const Source& source : sources) {
    CAPTURE(source.file);
    const std::string good = tests::recorded_file(source.file);
    const auto scheduler = make_scheduler(source.kind);
    std::uint64_t read = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      CAPTURE(round);
      const ProcessResult damaged = answered(tests::mutate(good, round));
      const bool rows = std::string(source.file).find("squeue") != std::string::npos;
      const FakeAsk ask{{{"squeue", rows ? damaged : answered("")}, {"", damaged}}};
      if (holds(*scheduler, source.ids, ask)) ++read;
      (void)parse_sbatch(damaged.out);
      (void)parse_qsub(damaged.out);
    }
    CHECK(read == rounds);  // what cannot be read is no job, never an exception
  }
}

TEST_CASE("damaged ids of submissions are refused or well formed") {
  for (std::uint64_t round = 0; round < tests::mutation_rounds(2000); ++round) {
    CAPTURE(round);
    for (const char* id : {"4711;cluster", "3[].minsky1", "Submitted batch job 12"}) {
      const std::string text = tests::mutate(id, round);
      for (const auto& parsed : {parse_sbatch(text), parse_qsub(text)}) {
        if (!parsed) continue;
        CHECK((!parsed->empty() && parsed->front() >= '0' && parsed->front() <= '9'));
        CHECK(parsed->find_first_of(" \t\n'\"$`<>|&*?#\\") == std::string::npos);
      }
    }
  }
}

TEST_SUITE_END();
