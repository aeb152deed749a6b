// SPDX-License-Identifier: MIT
#include "launch/rank/placement_line.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::find_placement_line;
using launch::PlaceReport;
using launch::render_placement_line;

namespace {

const PlaceReport place_report{3, 1, "h2", {0, 1, 2, 3, 16, 17}};
const std::string place_line = "ddlrun-place token=T1 rank=3 local=1 host=h2 pus=0-3,16-17;\n";

}  // namespace

TEST_SUITE_BEGIN("launch/rank/placement_line");

TEST_CASE("a marker is one line and is read back") {
  CHECK(render_placement_line("T1", place_report) == place_line);
  const auto found = find_placement_line(place_line, "T1");
  REQUIRE(found.report);
  CHECK(*found.report == place_report);
  CHECK(found.rest.empty());
  const PlaceReport unknown{0, std::nullopt, "h", {}};
  CHECK(find_placement_line(render_placement_line("T1", unknown), "T1").report == unknown);
}

TEST_CASE("what stands around a marker belongs to others, byte for byte") {
  struct Row {
    std::string line, rest;
  };
  for (const Row& row :
       {Row{"[1,3]<stderr>:" + place_line, ""}, Row{"[prterun-h1-77@1,3]<stderr>: " + place_line, ""},
        Row{"half a line" + place_line, "half a line"},
        Row{"[1,0]<stderr>:half[1,3]<stderr>:" + place_line, "[1,0]<stderr>:half"},
        Row{"<stderr>:" + place_line, "<stderr>:"}, Row{place_line.substr(0, place_line.size() - 1), ""},
        Row{place_line.substr(0, place_line.size() - 1) + "more\n", "more\n"}}) {
    CAPTURE(row.line);
    const auto found = find_placement_line(row.line, "T1");
    CHECK(found.report == place_report);
    CHECK(found.rest == row.rest);
  }
}

TEST_CASE("what only looks like a marker passes unchanged") {
  for (const std::string& line :
       {std::string("loss 0.3\n"), std::string(), std::string("\n"), std::string("ddlrun-place token=T1 \n"),
        std::string("ddlrun-place token=T2 rank=3 local=1 host=h2 pus=0;\n"),
        std::string("ddlrun-place token=T1 rank=3 local=1 host=h2 pus=0\n"),
        std::string("ddlrun-place token=T1 rank=-3 local=1 host=h2 pus=0;\n"),
        std::string("ddlrun-place token=T1 rank=99999999 local=1 host=h2 pus=0;\n"),
        std::string("ddlrun-place token=T1 rank=3 local=1 host=h2 pus=3-0;\n"),
        std::string("ddlrun-place token=T1 rank=3 local=1 pus=0;\n"), std::string("\0\xff;\n", 4)}) {
    CAPTURE(line);
    const auto found = find_placement_line(line, "T1");
    CHECK_FALSE(found.report);
    CHECK(found.rest == line);
  }
}

TEST_SUITE_END();
