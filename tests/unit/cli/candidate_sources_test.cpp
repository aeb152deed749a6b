// SPDX-License-Identifier: MIT
#include "cli/candidate_sources.hpp"

#include "cli/app.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

namespace {

std::string words_of(const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& candidate : candidates) text += candidate.word + " ";
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("cli/candidate_sources");

TEST_CASE("hosts of ssh and of /etc/hosts") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  CHECK(words_of(cli::find_candidates(system, "hosts")).empty());
  const std::string home = system.environment.get("HOME");
  fake.files.files[home + "/.ssh/config"] = "Host gpu1 *.lab\n";
  fake.files.files[home + "/.ssh/known_hosts"] =
      "h1,10.0.0.1 ssh-rsa A\n|1|x=|y= ssh-rsa B\n[h2]:2222 ssh-rsa C\n@revoked h9 ssh-rsa D\n# h8\n";
  fake.files.files["/etc/hosts"] = "127.0.0.1 localhost\n::1 ip6-localhost\n";
  CHECK(words_of(cli::find_candidates(system, "hosts")) == "gpu1 h1 10.0.0.1 h2 localhost ");
}

// As OpenPBS 23.06 (src/cmds/qstat.c) and Torque print it.
TEST_CASE("queues of qstat -Q") {
  const std::vector<std::string> both{"workq", "long"};
  CHECK(cli::parse_queue_table(
            "Queue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n"
            "---------------- ----- ----- --- --- ----- ----- ----- ----- ----- ----- ----\n"
            "workq                0     0 yes yes     0     0     0     0     0     0 Exec\n"
            "long                 0     2 yes yes     0     2     0     0     0     0 Exec\n") == both);
  CHECK(cli::parse_queue_table("").empty());
  CHECK(cli::parse_queue_table("qstat: cannot connect to server\n").empty());
}

TEST_CASE("nothing is run, and nothing but the answer is printed") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  CHECK(cli::run_app({"__complete", "launch", "$(touch x)", "--la"}, system) == 0);
  CHECK(fake.out.starts_with(":words\n--launcher\t"));
  CHECK(fake.err.empty());
  CHECK(fake.processes.ran.empty());
  fake.out.clear();
  CHECK(cli::run_app({"__complete"}, system) == 0);
  CHECK(cli::run_app({"__complete", "no-such", ""}, system) == 0);
  CHECK(cli::run_app({"__complete", "exec", "--"}, system) == 0);  // hidden
  CHECK(fake.out == ":words\n:words\n:words\n");
}

TEST_CASE("options behind -- without a program are those of the trainer") {
  const auto answer = [](std::vector<std::string> words) {
    tests::FakeSystem fake;
    words.insert(words.begin(), "__complete");
    cli::run_app(words, fake.interfaces());
    return fake.out;
  };
  CHECK(answer({"launch", "2", "--", "--ep"}) == ":program 3 ddl-train\n");
  CHECK(answer({"-v", "launch", "--", "--lr", "1", ""}) == ":program 3 ddl-train\n");
  CHECK(answer({"launch", "2", "--", "./x", "--ep"}) == ":program 3\n");
  CHECK(answer({"bench", "allreduce", "--", "--s"}) == ":program 3 ddl-bench\n");
  CHECK(answer({"bench", "scaling", "--", "--s"}) == ":program 3 ddl-train\n");
  CHECK(answer({"submit", "4x1", "--", "-x"}) == ":program 3\n");
}

TEST_SUITE_END();
