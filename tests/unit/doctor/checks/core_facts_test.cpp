// SPDX-License-Identifier: MIT
// Cores from /sys as hwloc counts them: made-up machines, and this one against hwloc itself.
#include "doctor/checks/core_facts.hpp"

#include "doctor/gather/software.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/support/real_host.hpp"
#include "topology/hwloc_reader.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ddlrun;
using namespace ddlrun::doctor;

namespace {

void put_cpu(tests::FakeHost& host, int cpu, const std::string& core, const std::string& package,
             const std::string& number) {
  const std::string dir = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
  host.put(dir + "core_cpus_list", core + "\n");
  host.put(dir + "package_cpus_list", package + "\n");
  host.put(dir + "physical_package_id", number + "\n");
  host.kernel.cpus.push_back(cpu);
}

Facts gather_core_facts(tests::FakeHost& host) {
  Facts facts;
  System system = host.system.interfaces();
  system.kernel = &host.kernel;
  gather_cores({system, host.kernel, host.request, ""}, facts);
  return facts;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/core_facts");

TEST_CASE("siblings that lie far apart, and a package with another number") {
  tests::FakeHost host;
  for (const int cpu : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const int core = cpu % 4, package = core / 2;
    put_cpu(host, cpu, fmt::format("{},{}", core, core + 4), package == 0 ? "0-1,4-5" : "2-3,6-7",
            package == 0 ? "0" : "8");
  }
  const Facts facts = gather_core_facts(host);
  CHECK(facts.is("cores.map", "0: 0,4;1,5\n8: 2,6;3,7"));
  const auto machine = machine_of(facts);
  REQUIRE(machine);
  CHECK(machine->packages[1].os == 8);
  CHECK(machine->cores[2].index_in_package == 0);
  CHECK(machine->cores[2].pus == std::vector<topology::PuIndex>{{2}, {6}});
  CHECK(render_shape(*machine) == "2 packages x 2 cores x 2 threads");
}

TEST_CASE("processors that are not ours do not count, as hwloc leaves them out") {
  tests::FakeHost host;
  for (const int cpu : {0, 1, 2, 3}) put_cpu(host, cpu, cpu < 2 ? "0-1" : "2-3", "0-3", "0");
  host.kernel.cpus = {1, 2, 3};
  CHECK(gather_core_facts(host).is("cores.map", "0: 1;2-3"));
  host.kernel.cpus = {};
  CHECK_FALSE(gather_core_facts(host).text("cores.map"));
}

TEST_CASE("NUMA nodes inside a package order its cores, as in hwloc") {
  // Two nodes that take turns: hwloc lists all cores of a node before those of the next.
  const auto machine = parse_cores("0: 0;1;2;3", "0: 0,2\n1: 1,3");
  REQUIRE(machine);
  std::vector<int> order;
  for (const auto& core : machine->cores) order.push_back(core.pus[0].os);
  CHECK(order == std::vector<int>{0, 2, 1, 3});
  const auto hwloc =
      topology::HwlocMachine::from_synthetic("pack:1 numa:2 core:2 pu:1(indexes=0,2,1,3)").machine("x");
  std::vector<int> theirs;
  for (const auto& core : hwloc.cores) theirs.push_back(core.pus[0].os);
  CHECK(order == theirs);
}

TEST_CASE("what is no list of cores is no machine") {
  for (const char* text :
       {"", "0", "0:", "0: ", "x: 0", "0: 0;0", "0: 0-x", "0: 0\n1: 0", "0: 99999999", "0: 1;;2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_cores(text, ""));
  }
  CHECK_FALSE(parse_cores("0: 0", "0: x"));
}

TEST_CASE("this machine has the cores that hwloc finds") {
  tests::RealHost here;
  Facts facts;
  gather_cores(here.context, facts);
  const auto machine = machine_of(facts);
  REQUIRE(machine);
  const auto hwloc = topology::HwlocMachine::this_host().machine("this host");
  REQUIRE(machine->cores.size() == hwloc.cores.size());
  CHECK(machine->packages_with_cores().size() ==
        std::max<std::size_t>(1, hwloc.packages_with_cores().size()));
  for (std::size_t i = 0; i < hwloc.cores.size(); ++i) {
    CAPTURE(i);
    CHECK(machine->cores[i].pus == hwloc.cores[i].pus);
    CHECK(machine->cores[i].index_in_package == hwloc.cores[i].index_in_package);
  }
}

TEST_SUITE_END();
