// SPDX-License-Identifier: MIT
// Torque's text, and that of Slurm's wrappers: fields in the order and form of their sources (print_job_full
// of qstat.pl; Torque's qstat -f).
#include "base/text/error.hpp"
#include "schedulers/job/scheduler.hpp"
#include "schedulers/pbs/pbs_answers.hpp"
#include "tests/unit/schedulers/recorded.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;
using tests::answered;
using tests::FakeAsk;

namespace {

using S = JobState;
const auto torque_scheduler = make_scheduler(SchedulerKind::torque);

std::string wrapper_job(const std::string& id, const std::string& state) {
  return "Job Id:\t" + id + "\n\tJob_Name = train\n\tJob_Owner = ddl@minsky1\n\tjob_state = " + state +
         "\n\tqueue = normal\n\tqtime = Sat Nov 21 02:27:00 2026\n\tAccount_Name = caffe\n"
         "\texec_host = minsky1/68+minsky2/68\n\tPriority = 4294901757\n\teuser = ddl(2000)\n\tegroup = "
         "ddl(2000)\n"
         "\tResource_List.walltime = 04:00:00\n\tResource_List.nodect = 2\n\tResource_List.ncpus = 136\n\n";
}

std::string real_job(const std::string& id, const std::string& lines) {
  return "Job Id: " + id + "\n    Job_Name = train\n    Job_Owner = ddl@login\n" + lines +
         "    exec_host = node1/0-67+node2/0-67\n    Resource_List.walltime = 00:10:00\n"
         "    Variable_List = PBS_O_QUEUE=batch,PBS_O_HOME=/home/ddl,\n\tPBS_O_WORKDIR=/home/ddl,A= "
         "job_state = Z,\n"
         "\tPBS_O_HOST=login\n    comment = Job started on Sat Nov 21 at\n\t 10:00\n\n";
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/pbs/torque_answers");

TEST_CASE("Slurm's wrapper") {
  const std::pair<const char*, JobState> letters[] = {{"Q", S::queued},
                                                      {"R", S::running},
                                                      {"S", S::held},
                                                      {"U", S::running},   // also of a job that is ending
                                                      {"C", S::unknown}};  // over; how, it does not tell
  for (const auto& [letter, state] : letters) {
    CAPTURE(letter);
    // Its filter takes 3 for a part of 30.
    const FakeAsk ask{{{"qstat -f 30", answered(wrapper_job("3", "Q") + wrapper_job("30", letter))}}};
    const JobStatus status = torque_scheduler->read_states(std::vector<JobId>{"30"}, ask).at("30");
    CHECK(name_of(status.state) == name_of(state));
    CHECK(status.word == letter);
    CHECK(status.hosts == "minsky1,minsky2");
    CHECK_FALSE(status.exit_status);
  }
}

TEST_CASE("Torque itself") {
  struct Row {
    const char* lines;
    JobState state;
    std::optional<int> exit_status;
    int signal;
  };
  const Row rows[] = {
      {"    job_state = Q\n", S::queued, {}, 0},
      {"    job_state = H\n    Hold_Types = u\n", S::held, {}, 0},
      {"    job_state = W\n", S::queued, {}, 0},
      {"    job_state = R\n", S::running, {}, 0},
      {"    job_state = E\n", S::running, {}, 0},
      {"    job_state = C\n    exit_status = 0\n", S::completed, 0, 0},
      {"    job_state = C\n    exit_status = 3\n", S::failed, 3, 0},
      {"    job_state = C\n    exit_status = 139\n", S::failed, 139, 11},
      {"    job_state = C\n    exit_status = 271\n", S::cancelled, 143, 15},
      {"    job_state = C\n    exit_status = 271\n    resources_used.walltime = 00:10:05\n", S::timed_out,
       143, 15},
      {"    job_state = C\n    exit_status = -11\n", S::timed_out, {}, 0},
      {"    job_state = C\n    exit_status = -10\n", S::out_of_memory, {}, 0},
      {"    job_state = C\n", S::unknown, {}, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.lines);
    const FakeAsk ask{{{"qstat -f 8.server", answered(real_job("8.server", row.lines))}}};
    const JobStatus status =
        torque_scheduler->read_states(std::vector<JobId>{"8.server"}, ask).at("8.server");
    CHECK(name_of(status.state) == name_of(row.state));
    CHECK(status.exit_status == row.exit_status);
    CHECK(status.signal == row.signal);
    CHECK(status.hosts == "node1,node2");
    if (std::string(row.lines).find("job_state = Q") == std::string::npos) continue;
    CHECK(status.reason == "Job started on Sat Nov 21 at 10:00");  // unfolded
  }
}

TEST_CASE("arrays of Torque are queried with their tasks") {
  const std::string jobs = real_job("9[0].server", "    job_state = C\n    exit_status = 0\n") +
                           real_job("9[1].server", "    job_state = C\n    exit_status = 2\n");
  const FakeAsk ask{{{"qstat -f -t 9[].server", answered(jobs)}}};
  const JobStatus status =
      torque_scheduler->read_states(std::vector<JobId>{"9[].server"}, ask).at("9[].server");
  CHECK(status.state == S::failed);
  CHECK(status.exit_status == 2);
  CHECK(status.tasks.size() == 2);
}

TEST_CASE("unknown jobs and silent servers") {
  const FakeAsk unknown{{{"qstat", answered("", 153, "qstat: Unknown Job Id Error 8.server\n")}}};
  CHECK(torque_scheduler->read_states(std::vector<JobId>{"8"}, unknown).at("8").state == S::unknown);
  const FakeAsk wrapper{{{"qstat", answered("", 153)}}};
  CHECK(torque_scheduler->read_states(std::vector<JobId>{"8"}, wrapper).at("8").state == S::unknown);
  const FakeAsk down{{{"qstat", answered("", 255, "Problem loading jobs.\n")}}};
  CHECK_THROWS_AS(torque_scheduler->read_states(std::vector<JobId>{"8"}, down), Error);
}

TEST_CASE("submission through either") {
  CHECK(torque_scheduler->read_submission(answered("8\n")) == "8");
  CHECK(torque_scheduler->read_submission(answered("8.server.example\n")) == "8.server.example");
  const auto refused = [](const ProcessResult& answer) {
    try {
      torque_scheduler->read_submission(answer);
    } catch (const Error& error) {
      return std::pair(error.kind(), error.message().what);
    }
    return std::pair(ErrorKind::internal, std::string());
  };
  const auto [kind, what] = refused(tests::recorded("slurm/06_partition_bad.txt"));
  CHECK(kind == ErrorKind::scheduler);
  CHECK(what.find("no such partition") != std::string::npos);
  CHECK(refused(answered("", 170, "qsub: submit error (Unknown queue MSG=requested queue not found)\n"))
            .second.find("no such queue") != std::string::npos);
  CHECK(refused(tests::recorded("slurm/11_ctld_down_sbatch.txt")).first == ErrorKind::unreachable);
}

TEST_SUITE_END();
