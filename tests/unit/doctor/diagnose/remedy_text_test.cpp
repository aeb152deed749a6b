// SPDX-License-Identifier: MIT
// Remedies that name the command which puts the rank on each line.
#include "doctor/diagnose/remedy_text.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/remedy_text");

TEST_CASE("no remedy puts the rank on each line where it is there") {
  RunStatus launched{1, LogSource::mpirun, true};
  const std::string peer = "ddl: rank 3 (h2) ended before it came to the all_reduce\n";
  const auto remedies = [](const std::string& text, const RunStatus& end) {
    const Diagnosis found = diagnose_text(text, end);
    REQUIRE(found.cause);
    CHECK(found.cause->id == "O30");
    return found.cause->remedies;
  };
  const auto has_tagging = [](const std::vector<std::string>& texts) {
    return std::ranges::any_of(texts, [](const std::string& text) { return find_tagging(text).has_value(); });
  };
  CHECK(has_tagging(remedies(peer, launched)));
  // launch marks the lines that it analyses, whatever the user sees.
  CHECK(has_tagging(remedies("[1,0]<stderr>:" + peer, launched)));
  launched.names_ranks = true;
  const auto fitted = remedies(peer, launched);
  CHECK_FALSE(has_tagging(fitted));
  CHECK(fitted.front() == "look for the last words of rank 3");
  CHECK_FALSE(has_tagging(remedies("[1,0]<stderr>:" + peer, {1, LogSource::mpirun})));
  CHECK_FALSE(has_tagging(remedies("[1] " + peer + "[0] " + peer, {})));
  // One number may be anything, and Open MPI's own lines are no tags.
  CHECK(has_tagging(remedies("[0] " + peer, {})));
  CHECK(has_tagging(remedies("[h1:77] [[9,1],0] a\n[h1:78] [[9,1],1] a\n" + peer, {})));
  std::vector<std::string> only{"mpirun --tag-output ...   # which rank"};
  drop_tagging(only);
  CHECK(only == std::vector<std::string>{
                    "look for the first error of any rank: the output has the rank of each line"});
}

TEST_CASE("a command for this host needs no ssh") {
  const auto here = [](const std::string& host) { return host == "vm"; };
  const auto fit = [&](const std::string& remedy) { return without_ssh_to_self(remedy, here); };
  CHECK(fit("ssh vm 'dmesg -T | grep -i -A1 \"oom\" | tail'   # was it the kernel?") ==
        "dmesg -T | grep -i -A1 \"oom\" | tail   # on vm: was it the kernel?");
  CHECK(fit("ssh vm true") == "true   # on vm");
  CHECK(fit("ssh vm 'grep '\\''a b'\\'' f'") == "grep 'a b' f   # on vm");
  CHECK(fit("mpirun -n 1 -H vm ls -ld data.h5   # as the job sees it") ==
        "ls -ld data.h5   # on vm: as the job sees it");
  for (const char* other : {"ssh h2 'dmesg'   # why", "mpirun -n 1 -H h2 ls", "ssh -t vm top", "ssh vm",
                            "ssh vm 'a'; ssh h2 'b'", "ping vm; ssh vm uptime"})
    CHECK(fit(other) == other);
}

TEST_SUITE_END();
