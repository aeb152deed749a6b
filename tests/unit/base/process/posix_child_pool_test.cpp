// SPDX-License-Identifier: MIT
#include "base/process/posix_child_pool.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <string>

using namespace ddlrun;
using std::chrono::milliseconds;

namespace {

struct Heard {
  std::map<std::size_t, std::string> out, err;
  std::map<std::size_t, ProcessResult> ends;
};

ChildCallbacks ears_of(Heard& heard) {
  ChildCallbacks callbacks;
  callbacks.out = [&](std::size_t member, std::string_view bytes) { heard.out[member] += bytes; };
  callbacks.err = [&](std::size_t member, std::string_view bytes) { heard.err[member] += bytes; };
  callbacks.ended = [&](std::size_t member, const ProcessResult& end) { heard.ends[member] = end; };
  return callbacks;
}

// Until all have ended, for 10 s at most.
void wait_for_all(ChildPool& crew, const ChildCallbacks& callbacks) {
  for (int i = 0; i < 1000 && crew.alive() > 0; ++i) crew.wait(milliseconds(10), callbacks);
  REQUIRE(crew.alive() == 0);
}

ChildSpec shell(const std::string& text, bool has_stdin = false) {
  ChildSpec member;
  member.command = {"sh", "-c", text};
  member.has_stdin = has_stdin;
  return member;
}

}  // namespace

TEST_SUITE_BEGIN("base/process/posix_child_pool");

TEST_CASE("members are heard to their last byte, and end as they end") {
  ChildPool crew;
  Heard heard;
  const auto loud = crew.start(shell("seq 100000; seq 100000 >&2; exit 7"));
  ChildSpec other = shell("printf %s \"$VALUE\"; kill -9 $$");
  other.extra = {{"VALUE", "two\nlines"}};
  const auto killed = crew.start(other);
  ChildSpec none;
  none.command = {"/no/such/program"};
  const auto missing = crew.start(none);
  ChildSpec refused = shell("echo never");
  refused.prepare = [] { return false; };
  const auto unprepared = crew.start(refused);
  wait_for_all(crew, ears_of(heard));
  CHECK(heard.out[loud].size() == 588895);  // seq 100000 | wc -c
  CHECK(heard.err[loud] == heard.out[loud]);
  CHECK(heard.ends[loud].exit_status == 7);
  CHECK(heard.out[killed] == "two\nlines");
  CHECK(heard.ends[killed].signal == 9);
  CHECK(heard.ends[killed].exit_status == 137);
  CHECK(heard.ends[missing].start_error == "No such file or directory");
  CHECK(heard.ends[unprepared].exit_status == 126);
  CHECK(heard.out[unprepared].empty());
}

TEST_CASE("a member is spoken to, however much it is") {
  ChildPool crew;
  Heard heard;
  const auto echo = crew.start(shell("cat; echo done", true));
  const auto deaf = crew.start(shell("exec <&-; sleep 0.2", true));
  const std::string much(3'000'000, 'x');
  crew.write_stdin(echo, much);
  crew.write_stdin(deaf, much);
  CHECK(crew.pending_in(echo) > 0);
  crew.close_input(echo);
  wait_for_all(crew, ears_of(heard));
  CHECK(heard.out[echo] == much + "done\n");
  CHECK(heard.ends[deaf].exit_status == 0);
  CHECK(crew.pending_in(echo) == 0);
  crew.write_stdin(echo, "to nobody");
}

TEST_CASE("a signal reaches all of a member's group; whoever keeps its streams is not waited for") {
  ChildPool crew;
  Heard heard;
  const auto asleep = crew.start(shell("sleep 60 & sleep 60; true"));
  const auto leaves = crew.start(shell("setsid sleep 3 & exit 0"));
  const ChildCallbacks callbacks = ears_of(heard);
  for (int i = 0; i < 20; ++i) crew.wait(milliseconds(10), callbacks);
  const auto begun = std::chrono::steady_clock::now();
  crew.signal(asleep, SIGTERM);
  wait_for_all(crew, callbacks);
  CHECK(heard.ends[asleep].signal == SIGTERM);
  CHECK(heard.ends[leaves].exit_status == 0);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(2));
}

TEST_CASE("what is sent to us is told, and does not end us") {
  ChildPool crew;
  Heard heard;
  int told = 0;
  ChildCallbacks callbacks = ears_of(heard);
  callbacks.signal = [&](int signal) { told = signal; };
  ::kill(::getpid(), SIGTERM);
  for (int i = 0; i < 100 && told == 0; ++i) crew.wait(milliseconds(10), callbacks);
  CHECK(told == SIGTERM);
}

TEST_SUITE_END();
