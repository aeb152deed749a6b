// SPDX-License-Identifier: MIT
#include "doctor/diagnose/alike_failure.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/alike_failure");

namespace {

// As Python 3.11's argparse ends a program, with status 2. `other`: a rank with another option.
std::string refused_option(int ranks, bool tagged, int other = -1) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string tag = tagged ? "[" + std::to_string(rank) + "] " : "";
    text += tag + "usage: train.py [-h] [--lr LR]\n";
    text +=
        tag + "train.py: error: unrecognized arguments: --" + (rank == other ? "epoch" : "batch") + " 3\n";
  }
  return text;
}

std::string end_line(int ranks) {
  return "ddlrun: all " + std::to_string(ranks) + " ranks failed alike: exit status 2\n";
}

Diagnosis diagnosed(const std::string& text, std::uint32_t ranks) {
  RunStatus end{2, LogSource::mpirun};
  end.ranks = ranks;
  return diagnose_text(text, end);
}

}  // namespace

TEST_CASE("an option that all ranks refuse: none of them is named as the first") {
  for (const int ranks : {2, 4, 64}) {
    for (const bool tagged : {false, true}) {
      CAPTURE(ranks);
      CAPTURE(tagged);
      const std::string text = refused_option(ranks, tagged) + (tagged ? "" : end_line(ranks));
      const Diagnosis all = diagnosed(text, static_cast<std::uint32_t>(ranks));
      REQUIRE(all.cause);
      CHECK(all.cause->id == "J79");
      CHECK(all.cause->fails_alike);
      CHECK(render_diagnosis(all).find("at: all " + std::to_string(ranks) + " ranks failed alike") !=
            std::string::npos);
    }
  }
  CHECK(diagnosed(refused_option(4, false) + end_line(4), 0).cause->fails_alike);
}

TEST_CASE("an option that some ranks refuse, or each another one, is no failure of all alike") {
  CHECK_FALSE(diagnosed(refused_option(2, true), 4).cause->fails_alike);
  CHECK_FALSE(diagnosed(refused_option(2, false), 2).cause->fails_alike);  // one rank may print it twice
  CHECK_FALSE(diagnosed(refused_option(4, true, 2), 4).cause->fails_alike);
  CHECK_FALSE(diagnosed(refused_option(1, true), 1).cause->fails_alike);
  CHECK_FALSE(diagnosed(refused_option(4, true), 0).cause->fails_alike);  // how many there are is not known
}

// Each rank that waits for a lost one says the same, and the lost one is the reason.
TEST_CASE("an error by which ranks notice another one is no failure of all alike") {
  std::string text;
  for (int rank = 0; rank < 2; ++rank)
    text +=
        "[" + std::to_string(rank) +
        "] torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients "
        "joined.\n";
  const Diagnosis diagnosis = diagnosed(text, 2);
  REQUIRE(diagnosis.cause);
  CHECK_FALSE(diagnosis.cause->fails_alike);
}

TEST_SUITE_END();
