// SPDX-License-Identifier: MIT
// The daemon of a host against ranks that exist on paper only, on a clock that moves from event to event.
#include "launch/ssh/ssh_daemon.hpp"

#include "base/os/self_executable.hpp"
#include "base/text/error.hpp"
#include "launch/ssh/ssh_launch_spec.hpp"
#include "tests/support/fake_child_pool.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <string>
#include <vector>

using namespace ddlrun;
using namespace ddlrun::launch;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// Ranks 2 and 3 of four are here, on h2; rank 0 is not, unless `first` is the node.
struct DaemonHost {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  tests::FakeChildPool pool;
  SshHostSpec spec;

  DaemonHost() {
    spec.rank_map.kinds = {{{}, {}}};
    spec.rank_map.hosts = {{"h1", 0, {0, 1}}, {"h2", 0, {2, 3}}};
    RankGroup all;
    all.ranks = 4;
    spec.rank_map.groups = {all};
    spec.program.program = {"train", "--epochs", "1"};
    spec.values = {{"LR", "0.1"}};
    pool.reads_input = true;
  }
  void receive(const SshMessage& message, milliseconds delay = milliseconds(0)) {
    pool.type(render_ssh_message(message), delay);
  }
  void receive_spec(std::uint32_t node = 1) {
    receive({SshMessageType::spec, node, 0, render_ssh_host_spec(spec)});
  }
  void start() {
    receive_spec();
    receive({SshMessageType::start, 0, 0, ""});
  }
  // Its ranks end with the signal that reaches them, KILL only if they ignore all others.
  void ranks_obey(bool only_kill = false) {
    pool.on_signal = [this, only_kill](std::size_t child, int signal) {
      if (signal == SIGCONT || signal == SIGUSR1 || (only_kill && signal != SIGKILL)) return;
      pool.end_by(child, signal);
    };
  }
  int run() { return SshDaemon(system, pool).run(); }
  std::vector<SshMessage> sent() {
    std::string bytes = pool.out;
    const std::string handshake = handshake_line(read_own_binary().build_id);
    REQUIRE(bytes.starts_with(handshake));
    std::vector<SshMessage> messages;
    SshMessageReader().feed(std::string_view(bytes).substr(handshake.size()), [&](SshMessage&& message) {
      if (message.word != SshMessageType::heartbeat) messages.push_back(std::move(message));
    });
    return messages;
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/ssh/ssh_daemon");

TEST_CASE("it prepares, starts its own ranks, passes whole lines, and reports each end") {
  DaemonHost host;
  host.start();
  host.pool.on_start = [&](std::size_t child) {
    host.pool.print(child, "step 1\nst", milliseconds(10));
    host.pool.print(child, "ep 2\n", milliseconds(20));
    host.pool.print_err(child, "loading", milliseconds(30));  // no newline: shown 200 ms later
    host.pool.print(child, "last", milliseconds(600));
    host.pool.exit(child, child == 0 ? 0 : 9, milliseconds(700 + 100 * static_cast<int>(child)));
  };
  CHECK(host.run() == 0);
  REQUIRE(host.pool.children.size() == 2);
  const ChildSpec& second = host.pool.children[1].spec;
  CHECK(second.command == Command{"train", "--epochs", "1"});
  CHECK(second.extra.at("LR") == "0.1");
  CHECK(second.extra.at("DDLRUN_RANK") == "3");
  CHECK(second.extra.at("DDLRUN_LOCAL_RANK") == "1");
  CHECK(second.extra.at("DDLRUN_SIZE") == "4");
  CHECK_FALSE(second.has_stdin);  // rank 0 is elsewhere
  using enum SshMessageType;
  CHECK(host.sent() == std::vector<SshMessage>{{prepared, 0, 0, ""},
                                               {out, 2, 0, "step 1\n"},
                                               {out, 3, 0, "step 1\n"},
                                               {out, 2, 0, "step 2\n"},
                                               {out, 3, 0, "step 2\n"},
                                               {err, 2, 0, "loading"},
                                               {err, 3, 0, "loading"},
                                               {out, 2, 0, "last"},
                                               {ended, 2, 0, ""},
                                               {out, 3, 0, "last"},
                                               {ended, 3, 9, ""}});
  CHECK(host.pool.leftovers.size() == 1);
}

TEST_CASE("a host without the working directory refuses, and starts nothing") {
  DaemonHost host;
  host.spec.rank_map.workdir = "/data/project";
  SUBCASE("absent") {
    host.receive_spec();
    CHECK(host.run() == 0);
    const auto sent = host.sent();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].word == SshMessageType::refused);
    CHECK(sent[0].value == static_cast<std::uint32_t>(exit_code(ErrorKind::request)));
    CHECK(sent[0].bytes.starts_with("the working directory is not on this host\n/data/project\n"));
  }
  SUBCASE("there") {
    host.fake.files.directories.insert("/data/project");
    host.receive_spec();
    host.receive({SshMessageType::stop, 1, 0, ""}, milliseconds(10));
    CHECK(host.run() == 0);
    CHECK(host.sent() == std::vector<SshMessage>{{SshMessageType::prepared, 0, 0, ""}});
  }
  SUBCASE("of another job") {
    host.spec.rank_map.workdir.clear();
    host.receive_spec(7);
    CHECK(host.run() == 0);
    CHECK(host.sent().at(0).word == SshMessageType::refused);
  }
  CHECK(host.pool.children.empty());
}

TEST_CASE("a rank that cannot be started is reported as one that ended") {
  DaemonHost host;
  host.start();
  host.pool.on_start = [&](std::size_t child) {
    ProcessResult result;
    result.exit_status = 127;
    result.start_error = "No such file or directory";
    host.pool.end(child, result);
  };
  CHECK(host.run() == 0);
  const auto sent = host.sent();
  REQUIRE(sent.size() == 5);
  CHECK(sent[1].word == SshMessageType::err);
  CHECK(sent[1].bytes == "ddlrun: error: cannot start rank 2: No such file or directory\n");
  CHECK(sent[2] == SshMessage{SshMessageType::ended, 2, 127, ""});
}

TEST_CASE("its ranks get TERM, and KILL after the grace, for every reason to stop") {
  DaemonHost host;
  host.start();
  milliseconds grace(2000);
  milliseconds at(1000);
  int status = 0;
  SUBCASE("stop") { host.receive({SshMessageType::stop, 0, 0, ""}, at); }
  SUBCASE("stop at once") {
    host.receive({SshMessageType::stop, 1, 0, ""}, at);
    grace = milliseconds(0);
  }
  SUBCASE("the launcher's end of stdin is closed") { host.pool.type("", at); }
  SUBCASE("TERM") { host.pool.send_signal(SIGTERM, at); }
  SUBCASE("the reader of its stdout is gone") {
    host.pool.after(at, [&](const ChildCallbacks&) { host.pool.closed = true; });
  }
  SUBCASE("bytes that are no message") {
    host.pool.type("hello\n", at);
    status = 70;
  }
  SUBCASE("ranks that obey") {
    host.receive({SshMessageType::stop, 0, 0, ""}, at);
    host.ranks_obey();
    CHECK(host.run() == 0);
    for (const auto& rank : host.pool.children) {
      CHECK(rank.signals.front() == SIGTERM);
      CHECK(std::ranges::count(rank.signals, SIGKILL) == 0);
    }
    CHECK(host.sent().back() == SshMessage{SshMessageType::ended, 3, 256 + SIGTERM, ""});
    return;
  }
  host.ranks_obey(true);
  CHECK(host.run() == status);
  REQUIRE(host.pool.children.size() == 2);
  for (const auto& rank : host.pool.children) {
    REQUIRE(rank.signals.size() >= 3);
    CHECK(rank.signals[0] == SIGTERM);
    CHECK(rank.signals[1] == SIGCONT);  // a stopped one gets it too
    CHECK(rank.signals[2] == SIGKILL);
    CHECK(rank.signal_times[0] == at);
    CHECK(rank.signal_times[2] >= at + grace);
    CHECK(rank.signal_times[2] <= at + grace + milliseconds(100));
  }
  CHECK(host.pool.leftovers.size() == 1);
}

TEST_CASE("signals pass to the ranks; a service rank is ended alone") {
  DaemonHost host;
  host.start();
  host.ranks_obey();
  host.pool.send_signal(SIGUSR1, milliseconds(10));
  host.receive({SshMessageType::signal, SIGUSR1, 0, ""}, milliseconds(20));
  host.receive({SshMessageType::end, 3, 0, ""}, milliseconds(30));
  host.pool.exit(0, 0, milliseconds(500));
  CHECK(host.run() == 0);
  CHECK(host.pool.children[0].signals == std::vector<int>{SIGUSR1, SIGUSR1});
  CHECK(host.pool.children[1].signals == std::vector<int>{SIGUSR1, SIGUSR1, SIGTERM, SIGCONT});
}

TEST_CASE("stdin is rank 0's alone; it is acknowledged once the rank has taken it") {
  DaemonHost host;
  host.receive_spec(0);
  host.receive({SshMessageType::start, 0, 0, ""});
  host.receive({SshMessageType::input, 0, 0, "1 2 3\n"}, milliseconds(100));
  host.pool.after(milliseconds(90), [&](const ChildCallbacks&) { host.pool.held_in = 6; });
  std::size_t sent_before = 0;
  host.pool.after(milliseconds(990), [&](const ChildCallbacks&) { sent_before = host.sent().size(); });
  host.pool.after(milliseconds(1000), [&](const ChildCallbacks&) { host.pool.held_in = 0; });
  host.receive({SshMessageType::input, 0, 0, ""}, milliseconds(1200));
  host.pool.exit(0, 0, milliseconds(1500));
  host.pool.exit(1, 0, milliseconds(1500));
  CHECK(host.run() == 0);
  CHECK(host.pool.children[0].spec.has_stdin);
  CHECK_FALSE(host.pool.children[1].spec.has_stdin);
  CHECK(host.pool.children[0].in == "1 2 3\n");
  CHECK(host.pool.children[0].input_closed);
  CHECK(sent_before == 1);  // prepared; no ack yet
  CHECK(host.sent().at(1) == SshMessage{SshMessageType::ack, 0, 0, ""});
}

TEST_CASE("output without a reader makes the ranks wait, but not their end after a stop") {
  DaemonHost host;
  host.start();
  host.pool.after(seconds(1), [&](const ChildCallbacks&) { host.pool.held_out = 2u << 20; });
  host.pool.after(seconds(2), [&](const ChildCallbacks&) { CHECK_FALSE(host.pool.reads_members); });
  host.receive({SshMessageType::stop, 0, 0, ""}, seconds(3));
  host.pool.after(milliseconds(5600), [&](const ChildCallbacks&) {
    CHECK(host.pool.reads_members);
    host.pool.held_out = 0;
  });
  host.pool.exit(0, 137, seconds(7));
  host.pool.exit(1, 137, seconds(7));
  CHECK(host.run() == 0);
}

TEST_CASE("a quiet daemon sends a heartbeat every 5 s") {
  DaemonHost host;
  host.start();
  host.pool.exit(0, 0, seconds(31));
  host.pool.exit(1, 0, seconds(31));
  CHECK(host.run() == 0);
  std::size_t beats = 0;
  const std::string handshake = handshake_line(read_own_binary().build_id);
  SshMessageReader().feed(
      std::string_view(host.pool.out).substr(handshake.size()),
      [&](SshMessage&& message) { beats += message.word == SshMessageType::heartbeat ? 1 : 0; });
  CHECK(beats >= 5);
  CHECK(beats <= 6);
}

TEST_SUITE_END();
