// SPDX-License-Identifier: MIT
// `ddlrun top` on a terminal whose user the test writes; tests/cli/top_screen.py has real ones.
#include "cli/app.hpp"
#include "launch/history/run_record.hpp"
#include "launch/monitor/usage_state.hpp"
#include "tests/support/fake_system.hpp"
#include "tests/support/fake_terminal.hpp"

#include <doctest/doctest.h>
#include <signal.h>

using namespace ddlrun;

namespace {

struct Watching : tests::FakeSystem {
  tests::FakeTerminal terminal;
  launch::RunRecord run;
  launch::UsageState usage;
  int looks = 0;

  Watching() {
    environment.stdout_is_terminal = true;
    run.id = "r";
    run.host = "here";
    run.start = "1970-01-01T00:00:00Z";
    usage.hosts = {{"h1", std::nullopt}};
    usage.ranks.resize(3);
    for (std::uint32_t i = 0; i < 3; ++i) {
      usage.ranks[i].rank = i;
      usage.ranks[i].phase = launch::RankPhase::running;
      usage.ranks[i].cpu_percent = 10 * static_cast<int>(i);
    }
    write();
  }
  void write() {
    files.files["/runs/r/run.json"] = launch::render_run_json(run);
    files.files["/runs/r/usage.json"] = launch::render_usage_json(usage);
  }
  int top(const std::vector<std::string>& words = {}) {
    System system = interfaces();
    system.terminal = &terminal;
    std::vector<std::string> all{"top", "/runs/r"};
    all.insert(all.end(), words.begin(), words.end());
    return cli::run_app(all, system);
  }
  // The user's keys, one wait after another; then q.
  void type(std::vector<std::string> keys) {
    terminal.next = [this, keys](std::chrono::milliseconds time) {
      clock.passed += time;
      const auto at = static_cast<std::size_t>(looks++);
      return TerminalEvent{at < keys.size() ? keys[at] : "q", 0, false};
    };
  }
  std::string first_rank() const {
    const std::string& row = terminal.pictures.back()[6];
    return row.substr(row.find_first_not_of(' '), 1);
  }
};

}  // namespace

TEST_SUITE_BEGIN("cli/top_command");

TEST_CASE("a picture, until q; the terminal is given back, and nothing stays on it") {
  Watching user;
  CHECK(user.top() == 0);
  CHECK(user.terminal.opened == 1);
  CHECK_FALSE(user.terminal.is_open);
  CHECK(user.terminal.pictures.size() == 1);
  CHECK(user.terminal.pictures[0].size() == 24);
  CHECK(user.out.empty());
  CHECK(user.err.empty());
}

TEST_CASE("keys sort; others do nothing; a signal is the status") {
  Watching user;
  user.type({"", "c", "x"});
  CHECK(user.top() == 0);
  CHECK(user.terminal.pictures.size() == 4);
  CHECK(user.first_rank() == "2");
  user.looks = 0;
  user.type({"cr"});
  user.top();
  CHECK(user.first_rank() == "0");
  user.terminal.next = [](std::chrono::milliseconds) { return TerminalEvent{"", SIGTERM, true}; };
  CHECK(user.top() == 143);
  CHECK_FALSE(user.terminal.is_open);
}

TEST_CASE("the end of the run: its last picture stays as lines") {
  Watching user;
  user.terminal.next = [&](std::chrono::milliseconds time) {
    user.clock.passed += time;
    user.usage.over = true;
    user.usage.ranks[1].phase = launch::RankPhase::ended;
    user.usage.ranks[1].exit_status = 7;
    user.run.end = launch::RunEnd{"1970-01-01T00:01:00Z", 7, 0};
    user.write();
    return TerminalEvent{};
  };
  CHECK(user.top() == 0);
  CHECK_FALSE(user.terminal.is_open);
  CHECK(user.out.find("run r: status 7, 1:00") == 0);
  CHECK(user.out.find("status 7 ") != std::string::npos);
  CHECK(user.out.find("q quit") == std::string::npos);
}

TEST_CASE("a state that is damaged meanwhile is an error on the user's own screen") {
  Watching user;
  bool was_open = true;
  user.terminal.next = [&](std::chrono::milliseconds time) {
    user.clock.passed += time;
    user.files.files["/runs/r/usage.json"] = "{";
    return TerminalEvent{};
  };
  System system = user.interfaces();
  system.terminal = &user.terminal;
  system.err = [&](std::string_view text) {
    was_open = user.terminal.is_open;
    user.err += text;
  };
  CHECK(cli::run_app({"top", "/runs/r"}, system) == 3);
  CHECK_FALSE(was_open);
  CHECK(user.err.find("damaged") != std::string::npos);
}

TEST_CASE("lines: with --once, on a terminal that can do no more, and of a run that is over") {
  Watching user;
  CHECK(user.top({"--once"}) == 0);
  CHECK(user.terminal.opened == 0);
  CHECK(user.out.find("run r: running") == 0);
  user.out.clear();
  user.terminal.capable = false;
  user.clock.on_pause = [&](std::chrono::milliseconds) { return ++user.looks == 3 ? SIGINT : 0; };
  CHECK(user.top() == 130);
  std::size_t pictures = 0;
  for (std::size_t at = 0; (at = user.out.find("run r: ", at)) != std::string::npos; ++at) ++pictures;
  CHECK(pictures == 3);
}
