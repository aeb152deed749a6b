// SPDX-License-Identifier: MIT
#include "launch/monitor/restart.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::AttemptEnd;
using launch::HostFailure;
using launch::plan_restart;

namespace {

AttemptEnd attempt(int status, std::vector<std::string> lost = {}) {
  AttemptEnd end;
  end.status = status;
  end.hosts = {"h1", "h2", "h3", "h4"};
  end.dims = topology::parse_dims("2x4x1");
  end.lost_hosts = std::move(lost);
  return end;
}

}  // namespace

TEST_SUITE_BEGIN("launch/monitor/restart");

TEST_CASE("what is not started again") {
  struct Row {
    const char* what;
    AttemptEnd end;
    const char* part;
    bool is_error;
  };
  AttemptEnd stopped = attempt(75), used_up = attempt(1), all_lost = attempt(5, {"h1", "h2", "h3", "h4"});
  stopped.stop_signal = 15;
  used_up.restarts = 3;
  const Row rows[] = {{"a good end", attempt(0), "ended well", false},
                      {"the scheduler's signal", stopped, "signal 15", false},
                      {"a signal to the ranks alone", attempt(75), "ended by preemption", false},
                      {"bad options", attempt(2), "status 2 would come again", true},
                      {"no such program", attempt(127), "status 127 would come again", true},
                      {"enough", used_up, "3 of 3", true},
                      {"no host left", all_lost, "no host is left", true}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const auto decision = plan_restart({3, HostFailure::shrink, true}, row.end);
    CHECK(!decision.again);
    CHECK(decision.why.find(row.part) != std::string::npos);
    CHECK(decision.hint.empty() == !row.is_error);
  }
}

TEST_CASE("a lost host is left out or waited for") {
  struct Row {
    const char* what;
    launch::RestartPolicy policy;
    std::vector<std::string> lost, hosts, wait_for;
    const char* dims;
  };
  const std::vector<std::string> all{"h1", "h2", "h3", "h4"}, three{"h1", "h2", "h4"};
  const Row rows[] = {
      {"a rank crashed: the same again", {1, HostFailure::shrink, true}, {}, all, {}, "2x4x1"},
      {"dims were ours", {1, HostFailure::automatic, false}, {"h3"}, three, {}, "2x3x1"},
      {"dims were requested", {1, HostFailure::automatic, true}, {"h3"}, all, {"h3"}, "2x4x1"},
      {"asked to leave out", {1, HostFailure::shrink, true}, {"h3"}, three, {}, "2x3x1"},
      {"asked to wait", {1, HostFailure::wait, false}, {"h3"}, all, {"h3"}, "2x4x1"}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const auto decision = plan_restart(row.policy, attempt(5, row.lost));
    CHECK(decision.again);
    CHECK(decision.hosts == row.hosts);
    CHECK(decision.wait_for == row.wait_for);
    CHECK(topology::render_dims(*decision.dims) == row.dims);
  }
}

TEST_CASE("a job without dims goes on with the hosts that are left, or waits for them all") {
  AttemptEnd end = attempt(5, {"h3"});
  end.dims.reset();
  const auto fewer = plan_restart({1, HostFailure::shrink, true}, end);
  CHECK(fewer.again);
  CHECK(fewer.hosts == std::vector<std::string>{"h1", "h2", "h4"});
  CHECK_FALSE(fewer.dims);
  const auto all = plan_restart({1, HostFailure::automatic, true}, end);
  CHECK(all.wait_for == std::vector<std::string>{"h3"});
  CHECK(all.why.find("the job needs it") != std::string::npos);
}

TEST_CASE("racks stay where they come out even") {
  struct Row {
    const char* dims;
    std::uint32_t hosts;
    const char* fitted;
  };
  const Row rows[] = {{"4x2x2", 4, "4x2x2"}, {"4x2x2", 2, "4x1x2"},     {"4x2x2", 3, "4x3x1"},
                      {"1x4x1", 3, "1x3x1"}, {"6x2x2x2", 4, "6x1x2x2"}, {"6x2x2x2", 7, "6x7x1"}};
  for (const Row& row : rows) {
    CAPTURE(row.dims);
    CHECK(topology::render_dims(launch::fit_dims(topology::parse_dims(row.dims), row.hosts)) == row.fitted);
  }
  CHECK(launch::parse_host_failure("wait") == HostFailure::wait);
  CHECK_THROWS_AS(launch::parse_host_failure("ignore"), Error);
}

TEST_SUITE_END();
