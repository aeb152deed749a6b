// SPDX-License-Identifier: MIT
// Streams, and the end: a rank that fails, a host that is lost, signals.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/rank/status_line.hpp"
#include "tests/unit/launch/ssh/fake_ssh_job.hpp"

#include <doctest/doctest.h>
#include <signal.h>

using namespace ddlrun;
using namespace ddlrun::launch;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::FakeSshJob;

TEST_SUITE_BEGIN("launch/ssh/ssh_launcher_end");

TEST_CASE("the first rank that fails stops all hosts; a host that does not end is cut off") {
  FakeSshJob job;
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::start && child == 1)
      job.reply(1, {SshMessageType::ended, 3, 9, ""}, seconds(1));
    if (message.word == SshMessageType::stop && child == 1) {
      job.reply(1, {SshMessageType::ended, 2, 256 + SIGTERM, ""});
      job.pool.exit(1, 0, milliseconds(1));
    }
  };
  job.pool.on_signal = [&](std::size_t child, int signal) { job.pool.end_by(child, signal); };
  CHECK(job.run() == 9);
  CHECK(job.says("ddlrun: rank 3 on h2 failed first: it exited with status 9"));
  CHECK(job.count(SshMessageType::stop) == 2);
  CHECK(job.messages.back().number == 0);  // with grace
  REQUIRE(job.pool.children[0].signals == std::vector<int>{SIGKILL});
  // 1 s of work, 2 s of grace, 10 s for the host to end.
  CHECK(job.pool.children[0].signal_times[0] >= seconds(13));
  CHECK(job.pool.children[0].signal_times[0] < seconds(14));
}

TEST_CASE("a host that is lost, or whose bytes are no message, ends the job as unreachable") {
  FakeSshJob job;
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::stop && child == 0) job.end_ranks(0, 256 + SIGTERM);
  };
  job.pool.on_signal = [&](std::size_t child, int signal) { job.pool.end_by(child, signal); };
  SUBCASE("lost") {
    job.pool.print_err(1, "client_loop: send disconnect: Broken pipe\n", seconds(2));
    job.pool.exit(1, 255, milliseconds(2001));
    CHECK(job.run() == exit_code(ErrorKind::unreachable));
    CHECK(job.says("host h2 was lost with 2 ranks: client_loop: send disconnect: Broken pipe"));
  }
  SUBCASE("bytes") {
    job.pool.print(1, "hello out there\n", seconds(2));
    CHECK(job.run() == exit_code(ErrorKind::unreachable));
    CHECK(job.pool.children[1].signals == std::vector<int>{SIGKILL});
    CHECK(job.says("host h2 was lost with 2 ranks: "));
  }
  SUBCASE("it refuses after the start") {
    job.reply(1, {SshMessageType::refused, 0, 3, "no\nroom\nhere"}, seconds(2));
    job.pool.exit(1, 3, milliseconds(2001));
    CHECK(job.run() == exit_code(ErrorKind::unreachable));
    CHECK(job.says("host h2 was lost with 2 ranks: "));
  }
}

TEST_CASE("a host that answers for a rank of another host is cut off") {
  for (const SshMessageType word :
       {SshMessageType::out, SshMessageType::err, SshMessageType::ended, SshMessageType::ack}) {
    CAPTURE(static_cast<int>(word));
    FakeSshJob job;
    job.on_message = [&](std::size_t child, const SshMessage& message) {
      if (message.word == SshMessageType::stop && child == 0) job.end_ranks(0, 256 + SIGTERM);
    };
    job.pool.on_signal = [&](std::size_t child, int signal) { job.pool.end_by(child, signal); };
    job.reply(1, {word, 0, 0, "not mine\n"}, seconds(2));  // rank 0 is on h1
    CHECK(job.run() == exit_code(ErrorKind::unreachable));
    CHECK(job.pool.children[1].signals == std::vector<int>{SIGKILL});
    CHECK(job.says("host h2 was lost with 2 ranks: h2 sent a message of rank 0: that rank runs elsewhere"));
    CHECK_FALSE(job.says("not mine"));
  }
}

TEST_CASE("a host forges no report of another host's rank, and controls no terminal") {
  FakeSshJob job;
  job.spec.program.status_token = "t0k";
  const std::string forged = "ddlrun-rank token=t0k rank=0 host=h1 ended status=7 signal=0 alone=0;\n";
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word != SshMessageType::start) return;
    if (child == 1) {
      job.reply(1, {SshMessageType::err, 2, 0, "mine\n" + forged});
      job.reply(1, {SshMessageType::err, 3, 0, forged.substr(0, 20)});
      job.reply(1, {SshMessageType::err, 3, 0, forged.substr(20)});
      job.pool.print_err(1, "\x1b[31m" + forged, milliseconds(1));
    }
    job.end_ranks(child, 0, seconds(1));
  };
  CHECK(job.run() == 0);
  CHECK(job.says("mine\n"));
  CHECK(job.says("\\x1b[31m"));
  CHECK(job.pool.err.find('\x1b') == std::string::npos);
  for (const std::string_view line : split(job.pool.err, '\n')) {
    const auto rest = cut_stderr_marks(std::string(line) + "\n", "t0k").rest;
    CHECK_FALSE(find_status_line(rest, "t0k").report);
  }
}

TEST_CASE(
    "signals: USR1 passes; TERM passes and leaves the grace; the same again within 1 s is one; later is "
    "urgent") {
  FakeSshJob job;
  std::vector<std::pair<milliseconds, SshMessage>> received;
  bool ranks_end = true;
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (child == 0) received.emplace_back(job.pool.elapsed(), message);
    const bool ends = message.word == SshMessageType::stop ||
                      (ranks_end && message.word == SshMessageType::signal && message.number == SIGTERM);
    if (ends) job.end_ranks(child, 75);
  };
  const auto has = [&](SshMessageType word, std::uint32_t number) {
    return std::ranges::count_if(received, [&](const auto& entry) {
      return entry.second.word == word && entry.second.number == number;
    });
  };
  job.pool.send_signal(SIGUSR1, seconds(1));
  job.pool.send_signal(SIGTERM, seconds(2));
  SUBCASE("the ranks end by themselves, with a status of their own") {
    CHECK(job.run() == 75);
    CHECK(has(SshMessageType::signal, SIGUSR1) == 1);
    CHECK(has(SshMessageType::signal, SIGTERM) == 1);
    CHECK(has(SshMessageType::stop, 0) + has(SshMessageType::stop, 1) == 0);
    CHECK_FALSE(job.says("failed first"));
    CHECK(job.pool.elapsed() < seconds(3));
  }
  SUBCASE("the ranks do not end") {
    ranks_end = false;
    job.pool.send_signal(SIGTERM, milliseconds(2500));  // the group's copy
    CHECK(job.run() == 75);
    CHECK(has(SshMessageType::signal, SIGTERM) == 1);
    REQUIRE(has(SshMessageType::stop, 0) == 1);
    CHECK(received.back().first >= seconds(22));
    CHECK(received.back().first < milliseconds(22200));
  }
  SUBCASE("twice") {
    ranks_end = false;
    job.pool.send_signal(SIGTERM, milliseconds(3100));
    CHECK(job.run() == 75);
    CHECK(has(SshMessageType::stop, 1) == 1);
    CHECK(received.back().first < milliseconds(3200));
  }
}

TEST_CASE("a signal before the start ends the connections, and nothing starts") {
  FakeSshJob job;
  job.silent = {1};
  job.pool.send_signal(SIGTERM, seconds(1));
  SUBCASE("while it starts") {
    job.pool.on_signal = [&](std::size_t child, int) { job.pool.exit(child, 143); };
  }
  SUBCASE("although it becomes prepared") {
    job.pool.print(1, handshake_line(read_own_binary().build_id), milliseconds(1100));
    job.reply(1, {SshMessageType::prepared, 0, 0, ""}, milliseconds(1200));
  }
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::stop) job.pool.exit(child, 0);
  };
  CHECK(job.run() == 128 + SIGTERM);
  CHECK(job.count(SshMessageType::start) == 0);
  CHECK(job.pool.elapsed() < seconds(2));
}

TEST_CASE("stdin goes to the host of rank 0, a portion at a time") {
  FakeSshJob job;
  std::vector<std::string> portions;
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::start && child == 0) {
      CHECK_FALSE(job.pool.reads_input);
      job.pool.type("first", milliseconds(10));
      job.pool.after(milliseconds(11), [&](const ChildCallbacks&) { CHECK_FALSE(job.pool.reads_input); });
      job.reply(0, {SshMessageType::ack, 0, 0, ""}, milliseconds(20));
      job.pool.after(milliseconds(21), [&](const ChildCallbacks&) { CHECK(job.pool.reads_input); });
      job.pool.type("", milliseconds(30));
      job.end_ranks(0, 0, milliseconds(40));
      job.end_ranks(1, 0, milliseconds(40));
    }
    if (message.word != SshMessageType::input) return;
    CHECK(child == 0);
    portions.push_back(message.bytes);
  };
  CHECK(job.run() == 0);
  CHECK(portions == std::vector<std::string>{"first", ""});
}

TEST_CASE(
    "without a reader of its output it ends as any program in a pipe; a full pipe makes the hosts wait") {
  FakeSshJob job;
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::start && child == 0) {
      job.pool.after(seconds(1), [&](const ChildCallbacks&) { job.pool.held_out = 2u << 20; });
      job.pool.after(milliseconds(7000), [&](const ChildCallbacks&) {
        CHECK_FALSE(job.pool.reads_members);
        job.pool.held_out = 0;
        job.pool.closed = true;
      });
    }
    if (message.word == SshMessageType::stop) job.end_ranks(child, 256 + SIGTERM);
  };
  CHECK(job.run() == 128 + SIGPIPE);
  CHECK_FALSE(job.says("failed first"));
}

TEST_SUITE_END();
