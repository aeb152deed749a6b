// SPDX-License-Identifier: MIT
#include "launch/run/launch_restart.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::AttemptResult;
using launch::LaunchSpec;
using Words = std::vector<std::string>;

namespace {

AttemptResult failed(const Words& hosts, const Words& lost, bool is_trainer = false) {
  AttemptResult result;
  result.end.status = 1;
  result.end.lost_hosts = lost;
  result.hosts = hosts;
  result.dims = topology::Dims{1, static_cast<std::uint32_t>(hosts.size()), 1, 1};
  result.run_dir = "/runs/first";
  result.is_trainer = is_trainer;
  return result;
}

struct Restarts {
  tests::FakeSystem fake;
  LaunchSpec spec;
  std::vector<LaunchSpec> started;
  std::vector<AttemptResult> results;  // of the attempts, in order

  int run() {
    System system = fake.interfaces();
    return launch::run_with_restarts(system, spec, [this](System&, const LaunchSpec& attempt) {
      started.push_back(attempt);
      REQUIRE(started.size() <= results.size());
      return results[started.size() - 1];
    });
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/run/launch_restart");

TEST_CASE("without --max-restarts a failed job is started once") {
  Restarts restarts;
  restarts.results = {failed({"h1"}, {})};
  CHECK(restarts.run() == 1);
  CHECK(restarts.started.size() == 1);
}

TEST_CASE("a crash: the same hosts again, until a start succeeds") {
  Restarts restarts;
  restarts.spec.restart.policy.most = 3;
  AttemptResult success = failed({"h1", "h2"}, {});
  success.end.status = 0;
  restarts.results = {failed({"h1", "h2"}, {}), failed({"h1", "h2"}, {}), success};
  CHECK(restarts.run() == 0);
  REQUIRE(restarts.started.size() == 3);
  CHECK(restarts.started[2].shape.hosts == Words{"h1", "h2"});
  CHECK(restarts.started[2].restart.number == 2);
  CHECK(restarts.started[2].restart.restart_of == "first");
}

TEST_CASE("no more starts than --max-restarts, and the reason is printed") {
  Restarts restarts;
  restarts.spec.restart.policy.most = 1;
  restarts.results = {failed({"h1"}, {}), failed({"h1"}, {})};
  CHECK(restarts.run() == 1);
  CHECK(restarts.started.size() == 2);
  CHECK(restarts.fake.err.find("not started again: ") != std::string::npos);
}

TEST_CASE("a lost host: the next start has one host less, and -H's counts of the others") {
  Restarts restarts;
  restarts.spec.restart.policy = {2, launch::HostFailure::shrink, false};
  restarts.spec.shape.host_ranks = {4, 2, 1};
  restarts.spec.run_dir = "run";
  AttemptResult lost = failed({"h1", "h2", "h3"}, {"h2"});
  lost.end.status = 5;
  AttemptResult success = lost;
  success.end.status = 0;
  restarts.results = {lost, success};
  CHECK(restarts.run() == 0);
  REQUIRE(restarts.started.size() == 2);
  CHECK(restarts.started[1].shape.hosts == Words{"h1", "h3"});
  CHECK(restarts.started[1].shape.host_ranks == std::vector<std::uint32_t>{4, 1});
  CHECK(restarts.started[1].run_dir == "run.1");
}

TEST_CASE("--restart-arg is appended once; the trainer resumes by itself if it saves") {
  LaunchSpec spec;
  spec.program = {"prog", "a"};
  spec.restart.arguments = {"--go-on"};
  const auto second = launch::next_start(spec, failed({"h1"}, {}), {true, "", "", {"h1"}, std::nullopt, {}});
  CHECK(second.program == Words{"prog", "a", "--go-on"});
  CHECK(second.restart.first_program == Words{"prog", "a"});
  const auto third = launch::next_start(second, failed({"h1"}, {}), {true, "", "", {"h1"}, std::nullopt, {}});
  CHECK(third.program == second.program);
  CHECK(third.restart.first_program == Words{"prog", "a"});
  spec = {};
  spec.program = {"--checkpoint", "c"};
  const auto trainer =
      launch::next_start(spec, failed({"h1"}, {}, true), {true, "", "", {"h1"}, std::nullopt, {}});
  CHECK(trainer.program == Words{"--checkpoint", "c", "--resume"});
  spec.program = {"--epochs", "3"};
  CHECK(
      launch::next_start(spec, failed({"h1"}, {}, true), {true, "", "", {"h1"}, std::nullopt, {}}).program ==
      Words{"--epochs", "3"});
}

TEST_CASE("--on-host-failure wait: asks the lost host by ssh until it answers") {
  Restarts restarts;
  restarts.spec.restart.policy = {1, launch::HostFailure::wait, true};
  AttemptResult lost = failed({"h1", "h2"}, {"h2"});
  lost.end.status = 5;
  AttemptResult success = lost;
  success.end.status = 0;
  restarts.results = {lost, success};
  int asked = 0;
  restarts.fake.processes.answer = [&](const Command& command) {
    CHECK(command[0] == "ssh");
    CHECK(command[command.size() - 2] == "h2");
    ProcessResult result;
    result.exit_status = ++asked < 3 ? 255 : 0;
    return result;
  };
  CHECK(restarts.run() == 0);
  CHECK(asked == 3);
  CHECK(restarts.started[1].shape.hosts == Words{"h1", "h2"});
}

TEST_CASE("--on-host-failure wait: asks a node of the Slurm job by srun") {
  Restarts restarts;
  restarts.fake.environment.variables = {
      {"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "h[1-2]"}, {"PATH", "/bin"}};
  restarts.fake.files.files["/bin/srun"] = "";
  restarts.spec.restart.policy = {1, launch::HostFailure::wait, true};
  AttemptResult lost = failed({"h1", "h2"}, {"h2"});
  lost.end.status = 5;
  AttemptResult success = lost;
  success.end.status = 0;
  restarts.results = {lost, success};
  restarts.fake.processes.answer = [&](const Command& command) {
    CHECK(command[0] == "srun");
    return ProcessResult{};
  };
  CHECK(restarts.run() == 0);
  CHECK(restarts.fake.processes.ran.size() == 1);
}

TEST_CASE("--host-timeout: a host that stays silent ends the job with status 5") {
  Restarts restarts;
  restarts.spec.restart.policy = {1, launch::HostFailure::wait, true};
  restarts.spec.restart.host_timeout = std::chrono::seconds(12);
  AttemptResult lost = failed({"h1", "h2"}, {"h2"});
  lost.end.status = 5;
  restarts.results = {lost};
  restarts.fake.processes.answer = [](const Command&) {
    ProcessResult result;
    result.exit_status = 255;
    return result;
  };
  // The machine's clock is set back meanwhile.
  int pauses = 0;
  restarts.fake.clock.on_pause = [&](std::chrono::milliseconds) {
    restarts.fake.clock.time -= std::chrono::hours(5);
    return ++pauses > 10 ? 2 : 0;
  };
  CHECK(restarts.run() == 5);
  CHECK(restarts.fake.err.find("h2 did not come back within 12 s") != std::string::npos);
}

TEST_CASE("a signal while launch waits for a host: 128 + its number") {
  Restarts restarts;
  restarts.spec.restart.policy = {1, launch::HostFailure::wait, true};
  AttemptResult lost = failed({"h1", "h2"}, {"h2"});
  lost.end.status = 5;
  restarts.results = {lost};
  restarts.fake.processes.answer = [](const Command&) {
    ProcessResult result;
    result.exit_status = 255;
    return result;
  };
  restarts.fake.clock.on_pause = [](std::chrono::milliseconds) { return 2; };
  CHECK(restarts.run() == 130);
  CHECK(restarts.fake.err.find("stopped by signal 2 (SIGINT)") != std::string::npos);
}

TEST_SUITE_END();
