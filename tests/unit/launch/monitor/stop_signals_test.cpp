// SPDX-License-Identifier: MIT
#include "launch/monitor/stop_signals.hpp"

#include "base/process/posix_rank_supervisor.hpp"

#include <doctest/doctest.h>
#include <signal.h>

using namespace ddlrun;
using launch::StopSignals;
using std::chrono::seconds;

TEST_SUITE_BEGIN("launch/monitor/stop_signals");

namespace {

const StopSignals::Time begin = StopSignals::Time() + std::chrono::hours(1);
std::string ignored;

}  // namespace

TEST_CASE("a signal that comes twice at once is one, and goes to the ranks") {
  for (const int signal : {SIGINT, SIGTERM}) {
    StopSignals signals;
    CHECK(signals.take(signal, true, begin) == end_signal);
    CHECK(signals.take(signal, true, begin) == 0);
    CHECK(signals.take(signal, true, begin + seconds(2)) == signal);
  }
  StopSignals other;
  CHECK(other.take(SIGUSR1, true, begin) == SIGUSR1);
  CHECK(other.tick(begin + seconds(100), ignored) == 0);
}

TEST_CASE("mpirun gets the signal that no rank can get, and is killed if it does not end") {
  StopSignals signals;
  CHECK(signals.take(SIGTERM, false, begin) == SIGTERM);
  CHECK(signals.tick(begin + seconds(10), ignored) == 0);
  std::string warning;
  CHECK(signals.tick(begin + seconds(11), warning) == SIGKILL);
  CHECK(warning.starts_with("the launcher has not ended within 10 s"));
}

TEST_CASE("ranks have 20 s to save, then mpirun ends them") {
  StopSignals signals;
  signals.take(SIGTERM, true, begin);
  CHECK(signals.tick(begin + seconds(20), ignored) == 0);
  CHECK(signals.tick(begin + seconds(21), ignored) == SIGTERM);
  CHECK(signals.tick(begin + seconds(31), ignored) == 0);
  CHECK(signals.tick(begin + seconds(32), ignored) == SIGKILL);
}

TEST_CASE("a launcher that passes signals on is killed 20 s later, if its ranks ignore them") {
  StopSignals signals;
  CHECK(signals.pass(SIGUSR1, begin) == SIGUSR1);
  CHECK(signals.tick(begin + seconds(100), ignored) == 0);
  CHECK(signals.pass(SIGTERM, begin) == SIGTERM);
  CHECK(signals.pass(SIGTERM, begin + seconds(5)) == SIGTERM);
  CHECK(signals.tick(begin + seconds(20), ignored) == 0);
  CHECK(signals.tick(begin + seconds(21), ignored) == SIGKILL);
}

TEST_CASE("Ctrl-C reaches mpirun without ddlrun") {
  StopSignals signals;
  CHECK(signals.note(SIGINT, begin) == SIGINT);
  CHECK(signals.take(SIGTERM, true, begin) == 0);
  CHECK(signals.tick(begin + seconds(11), ignored) == SIGKILL);
}

TEST_SUITE_END();
