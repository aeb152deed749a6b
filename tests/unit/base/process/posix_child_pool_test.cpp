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

struct ReceivedOutput {
  std::map<std::size_t, std::string> out, err;
  std::map<std::size_t, ProcessResult> ends;
};

ChildCallbacks callbacks_of(ReceivedOutput& received) {
  ChildCallbacks callbacks;
  callbacks.out = [&](std::size_t member, std::string_view bytes) { received.out[member] += bytes; };
  callbacks.err = [&](std::size_t member, std::string_view bytes) { received.err[member] += bytes; };
  callbacks.ended = [&](std::size_t member, const ProcessResult& end) { received.ends[member] = end; };
  return callbacks;
}

// Until all have ended, for 10 s at most.
void wait_for_all(ChildPool& children, const ChildCallbacks& callbacks) {
  for (int i = 0; i < 1000 && children.alive() > 0; ++i) children.wait(milliseconds(10), callbacks);
  REQUIRE(children.alive() == 0);
}

ChildSpec shell(const std::string& text, bool has_stdin = false) {
  ChildSpec member;
  member.command = {"sh", "-c", text};
  member.has_stdin = has_stdin;
  return member;
}

}  // namespace

TEST_SUITE_BEGIN("base/process/posix_child_pool");

TEST_CASE("members are received to their last byte, and end as they end") {
  PosixChildPool children;
  ReceivedOutput received;
  const auto loud = children.start(shell("seq 100000; seq 100000 >&2; exit 7"));
  ChildSpec other = shell("printf %s \"$VALUE\"; kill -9 $$");
  other.extra = {{"VALUE", "two\nlines"}};
  const auto killed = children.start(other);
  ChildSpec none;
  none.command = {"/no/such/program"};
  const auto missing = children.start(none);
  ChildSpec refused = shell("echo never");
  refused.prepare = [] { return false; };
  const auto unprepared = children.start(refused);
  wait_for_all(children, callbacks_of(received));
  CHECK(received.out[loud].size() == 588895);  // seq 100000 | wc -c
  CHECK(received.err[loud] == received.out[loud]);
  CHECK(received.ends[loud].exit_status == 7);
  CHECK(received.out[killed] == "two\nlines");
  CHECK(received.ends[killed].signal == 9);
  CHECK(received.ends[killed].exit_status == 137);
  CHECK(received.ends[missing].start_error == "No such file or directory");
  CHECK(received.ends[unprepared].exit_status == 126);
  CHECK(received.out[unprepared].empty());
}

TEST_CASE("a member is spoken to, however much it is") {
  PosixChildPool children;
  ReceivedOutput received;
  const auto echo = children.start(shell("cat; echo done", true));
  const auto deaf = children.start(shell("exec <&-; sleep 0.2", true));
  const std::string much(3'000'000, 'x');
  children.write_stdin(echo, much);
  children.write_stdin(deaf, much);
  CHECK(children.pending_in(echo) > 0);
  children.close_input(echo);
  wait_for_all(children, callbacks_of(received));
  CHECK(received.out[echo] == much + "done\n");
  CHECK(received.ends[deaf].exit_status == 0);
  CHECK(children.pending_in(echo) == 0);
  children.write_stdin(echo, "to no process");
}

TEST_CASE("a signal reaches all of a member's group; a process that keeps its streams is not waited for") {
  PosixChildPool children;
  ReceivedOutput received;
  const auto asleep = children.start(shell("sleep 60 & sleep 60; true"));
  const auto leaves = children.start(shell("setsid sleep 3 & exit 0"));
  const ChildCallbacks callbacks = callbacks_of(received);
  for (int i = 0; i < 20; ++i) children.wait(milliseconds(10), callbacks);
  const auto begun = std::chrono::steady_clock::now();
  children.signal(asleep, SIGTERM);
  wait_for_all(children, callbacks);
  CHECK(received.ends[asleep].signal == SIGTERM);
  CHECK(received.ends[leaves].exit_status == 0);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(2));
}

TEST_CASE("what is sent to us is reported, and does not end us") {
  PosixChildPool children;
  ReceivedOutput received;
  int reported = 0;
  ChildCallbacks callbacks = callbacks_of(received);
  callbacks.signal = [&](int signal) { reported = signal; };
  ::kill(::getpid(), SIGTERM);
  for (int i = 0; i < 100 && reported == 0; ++i) children.wait(milliseconds(10), callbacks);
  CHECK(reported == SIGTERM);
}

TEST_SUITE_END();
