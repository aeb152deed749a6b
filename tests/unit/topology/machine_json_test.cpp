// SPDX-License-Identifier: MIT
#include "topology/machine_json.hpp"

#include "base/text/error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/mutate.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace ddlrun;
using namespace ddlrun::topology;

namespace {

MachineTopology rich_machine() {
  MachineTopology machine = tests::with_gpus(regular_machine(2, 2, 2, "file a \"b\"\\\n.xml"), {0, 1, -1});
  machine.host_name = "h\xc3\xa4";
  machine.assumed = true;
  machine.numa_nodes.push_back({2, 5, 1ull << 40, true, {}});
  machine.unusable_pus = {{8}, {11}};
  machine.nics.push_back({"mlx5_0", "infiniband", "0000:02:00.0", "248a:0703", 1});
  machine.gpus[0].uuid = "GPU-1";
  return machine;
}

std::string refusal(const std::string& text) {
  try {
    parse_machine_json(text, "saved.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::request);
    CHECK(error.message().where == "saved.json");
    return error.message().what;
  }
  return "accepted";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_SUITE_BEGIN("topology/machine_json");

TEST_CASE("a machine comes back as it was") {
  for (const MachineTopology& machine : {MachineTopology{}, rich_machine(), regular_machine(1, 1, 1, ""),
                                         tests::uneven_machine({2, 1, 1, 2})}) {
    CHECK(parse_machine_json(render_machine_json(machine), "x") == machine);
  }
}

TEST_CASE("the document is stable and a core is a line") {
  const std::string text = render_machine_json(regular_machine(1, 2, 2, "s"));
  CHECK(text ==
        "{\n"
        " \"schema\": \"ddlrun.topo/1\",\n \"host_name\": \"\",\n \"source\": \"s\",\n \"assumed\": false,\n"
        " \"packages\": [\n  {\"logical\":0,\"os\":0,\"model\":\"\",\"core_count\":2}\n ],\n"
        " \"numa_nodes\": [\n  "
        "{\"logical\":0,\"os\":0,\"memory_bytes\":0,\"memory_only\":false,\"cores\":[0,1]}\n ],\n"
        " \"cores\": [\n"
        "  {\"index\":0,\"package\":0,\"index_in_package\":0,\"numa_node\":0,\"pus\":[0,1]},\n"
        "  {\"index\":1,\"package\":0,\"index_in_package\":1,\"numa_node\":0,\"pus\":[2,3]}\n ],\n"
        " \"unusable_pus\": [],\n \"gpus\": [],\n \"nics\": []\n}\n");
}

TEST_CASE("what is wrong is named by its path") {
  struct Row {
    const char* from;
    const char* to;
    const char* what;
  };
  const Row rows[] = {
      {"ddlrun.topo/1", "ddlrun.topo/2", "$.schema is 'ddlrun.topo/2', and only 'ddlrun.topo/1' is known"},
      {"\"assumed\"", "\"asumed\"", "$.assumed is missing"},
      {"\"assumed\": true", "\"assumed\": 1", "$.assumed is not true or false"},
      {"\"nics\"", "\"extra\": 1, \"nics\"", "$.extra is not a key of ddlrun.topo/1"},
      {"\"nics\": [", "\"nics\": 3, \"cuda\": [", "$.nics is not a list"},
      {"\"pus\":[0,1]", "\"pus\":[0,-1]", "$.cores[0].pus[1] is -1, and only 0 to 16777215 is possible"},
      {"\"pus\":[0,1]", "\"pus\":[]", "$.cores[0].pus is empty: a usable core has at least one"},
      {"\"pus\":[0,1]", "\"pus\":[1,0]", "$.cores[0].pus[1] does not ascend"},
      {"\"pus\":[2,3]", "\"pus\":[1,3]", "$.cores[1].pus names PU 1 for the second time"},
      {"\"pus\":[0,1]", "\"pus\":[0,99999999999999999999]", "$.cores[0].pus[1] is not a whole number"},
      {"\"index\":1,\"package\"", "\"index\":7,\"package\"",
       "$.cores[1].index is 7, and only 1 to 1 is possible"},
      {"\"index\":0,\"package\":0", "\"index\":0,\"package\":9",
       "$.cores[0].package is 9, and only -1 to 1 is possible"},
      {"\"index_in_package\":1", "\"index_in_package\":4",
       "$.cores[1].index_in_package is 4, but 1 cores of package 0 come before it"},
      {"\"core_count\":2", "\"core_count\":3",
       "$.packages[0].core_count is 3, but 2 cores name this package"},
      {"\"cores\":[0,1]", "\"cores\":[0,4]", "$.numa_nodes[0].cores[1] is 4, and only 0 to 3 is possible"},
      {"\"memory_bytes\":0", "\"memory_bytes\":-1",
       "$.numa_nodes[0].memory_bytes is not a whole number of bytes"},
      {"\"vendor\":\"NVIDIA\"", "\"vendor\":null", "$.gpus[0].vendor is not a text"},
      {"{\"name\":\"mlx5_0\"", "7, {\"name\":\"mlx5_0\"", "$.nics[0] is not an object"},
  };
  const std::string good = render_machine_json(rich_machine());
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(refusal(replaced(good, row.from, row.to)) == row.what);
  }
  CHECK(refusal("[1") == "this is not JSON: wrong at byte 3 of 2");
  CHECK(refusal("[1]") == "$ is not an object");
  CHECK(refusal(std::string(100000, '[')) == "the document is nested deeper than 16 levels");
}

TEST_CASE("mutated documents are read or refused") {
  const std::string good = render_machine_json(rich_machine());
  int refused = 0;
  const std::uint64_t rounds = tests::mutation_rounds(2000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    try {
      const MachineTopology machine = parse_machine_json(tests::mutate(good, i), "x");
      CHECK(parse_machine_json(render_machine_json(machine), "x") == machine);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::request);
      ++refused;
    }
  }
  CHECK(refused > static_cast<int>(rounds / 2));
}

TEST_SUITE_END();
