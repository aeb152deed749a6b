// SPDX-License-Identifier: MIT
// tests/cli/topo.sh has the pictures read by an XML parser and drawn.
#include "topology/machine_svg.hpp"

#include "tests/support/machines.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ddlrun;
using namespace ddlrun::topology;

namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The fill of the first box behind the given label's start.
std::string fill_behind(const std::string& svg, const std::string& label) {
  const std::size_t at = svg.find("fill=\"", svg.find(label));
  return svg.substr(at + 6, 7);
}

}  // namespace

TEST_SUITE_BEGIN("topology/machine_svg");

TEST_CASE("every core, GPU and NIC is a box") {
  MachineTopology machine = tests::with_gpus(regular_machine(2, 4, 2, "x"), {0, 1, -1});
  machine.nics.push_back({"ib0", "infiniband", "0000:01:00.0", "", 0});
  machine.nics.push_back({"docker0", "other", "", "", -1});
  const std::string svg = render_machine_svg(machine, {});
  CHECK(count(svg, "<title>core ") == 8);
  CHECK(count(svg, ">GPU ") == 3);
  CHECK(count(svg, ">ib0  infiniband<") == 1);
  CHECK(count(svg, ">docker0  other<") == 1);
  CHECK(count(svg, ">package ") == 2);
  CHECK(count(svg, ">NUMA node ") == 2);
}

TEST_CASE("a rank has one colour on its cores, its GPU and in the legend") {
  const MachineTopology machine = tests::with_gpus(regular_machine(1, 64, 1, "x"), {0, 0});
  std::vector<DrawnRank> ranks;
  for (std::uint32_t r = 0; r < 64; ++r) {
    ranks.push_back({r * 3, {{static_cast<int>(r)}}, r < 2 ? static_cast<int>(r) : -1});
  }
  const std::string svg = render_machine_svg(machine, ranks);
  std::set<std::string> colours;
  for (int r = 0; r < 64; ++r) {
    colours.insert(fill_behind(svg, "<title>core " + std::to_string(r) + ","));
    CHECK(count(svg, ">rank " + std::to_string(r * 3) + ": cores " + std::to_string(r)) == 1);
  }
  CHECK(colours.size() == 64);
  const std::string first = fill_behind(svg, "<title>core 0,");
  CHECK(count(svg, first) == 3);  // core, GPU, legend
}

TEST_CASE("names cannot break the picture") {
  MachineTopology machine = regular_machine(1, 1, 1, "a<b>&\"c\x01\xff");
  machine.packages[0].model = "</svg><script>";
  const std::string svg = render_machine_svg(machine, {});
  CHECK(count(svg, "<script>") == 0);
  CHECK(count(svg, "</svg>") == 1);
  CHECK(count(svg, "a&lt;b&gt;&amp;&quot;c\\x01") == 1);
  for (const char c : svg) CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
}

TEST_SUITE_END();
