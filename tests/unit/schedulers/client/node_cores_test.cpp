// SPDX-License-Identifier: MIT
#include "schedulers/client/node_cores.hpp"

#include "schedulers/client/scheduler_access.hpp"
#include "tests/support/fake_system.hpp"
#include "tests/unit/schedulers/recorded.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;

TEST_SUITE_BEGIN("schedulers/client/node_cores");

TEST_CASE("a number counts where all nodes of the queue have it") {
  struct Row {
    std::vector<ListedNode> nodes;
    const char* queue;
    std::optional<std::uint32_t> cores;
    const char* text;  // source, or counts
  };
  for (const Row& row : {Row{{{"n1", 68, ""}, {"n2", 68, ""}}, "", 68, "all 2 nodes, by pbsnodes"},
                         Row{{{"n1", 68, ""}}, "normal", 68, "the only node, by pbsnodes"},
                         Row{{{"n1", 68, ""}, {"n2", 40, ""}, {"n3", 68, ""}},
                             "normal",
                             std::nullopt,
                             "2 with 68, 1 with 40, by pbsnodes"},
                         Row{{{"n1", 68, ""}, {"g1", 20, "gpu"}, {"g2", 20, "gpu"}},
                             "gpu",
                             20,
                             "all 2 nodes of queue gpu, by pbsnodes"},
                         Row{{{"n1", 68, ""}, {"g1", 20, "gpu"}}, "normal", 68, "the only node, by pbsnodes"},
                         Row{{{"n1", 0, ""}}, "", std::nullopt, ""}, Row{{}, "", std::nullopt, ""}}) {
    CAPTURE(row.text);
    const NodeCores found = summarize_node_cores(row.nodes, row.queue, "pbsnodes");
    CHECK(found.cores == row.cores);
    CHECK((row.cores ? found.source : found.counts) == row.text);
  }
}

TEST_CASE("the lists of real schedulers") {
  const auto nodes = parse_pbsnodes_json(tests::recorded_file("pbs/20_pbsnodes.json"));
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[0].name == "minsky1");
  CHECK(nodes[0].cores == 68);
  const auto hosts = parse_pbsnodes_json(
      R"({"nodes":{"h1[0]":{"resources_available":{"host":"h1","ncpus":8,"ngpus":1}},
                   "h1[1]":{"resources_available":{"host":"h1","ncpus":8,"ngpus":1}},
                   "h2":{"queue":"gpu","resources_available":{"host":"h2","ncpus":4}}}})");
  CHECK(hosts == std::vector<ListedNode>{{"h1", 16, "", 16, 2}, {"h2", 4, "gpu", 4, std::nullopt}});
  for (const char* text : {"", "{", "[]", "{\"nodes\":3}", "minsky1\n  state = free\n"}) {
    CAPTURE(text);
    CHECK(parse_pbsnodes_json(text).empty());
  }
  const auto listed = parse_sinfo_nodes(
      "n1 2 20 80 gpu:a100:4(S:0-1),nvme:1\nn1 2 20 80 gpu:a100:4(S:0-1),nvme:1\nn2 2 x y (null)\nsinfo: "
      "error: a b\n");
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].cores == 40);
  CHECK(listed[0].cpus == 80);
  CHECK(listed[0].gpus == 4);
  CHECK(listed[1].cores == 0);
  CHECK(listed[1].gpus == 0);
}

TEST_CASE("pbsnodes or sinfo is asked; what fails gives nothing") {
  tests::FakeSystem fake;
  fake.processes.answer = [](const Command& command) {
    return command[0] == "sinfo" ? tests::answered("n1 2 20 80 (null)\n")
                                 : tests::answered("", 1, "pbsnodes: cannot connect to server");
  };
  System system = fake.interfaces();
  const CommandRunner ask = scheduler_runner(system);
  CHECK(find_node_cores(ask, SchedulerKind::slurm, "gpu").cores == 40u);
  CHECK(fake.processes.ran.back() == Command{"sinfo", "-h", "-N", "-o", "%N %X %Y %c %G", "-p", "gpu"});
  const NodeCores none = find_node_cores(ask, SchedulerKind::pbs, "");
  CHECK_FALSE(none.cores);
  CHECK(none.counts.empty());
  CHECK(none.problem == "pbsnodes reports \"cannot connect to server\" (exit status 1)");
  CHECK_FALSE(find_node_cores(ask, SchedulerKind::local, "").cores);
  CHECK(fake.processes.ran.size() == 2);
}

TEST_CASE("nodes of PBS by queue: a queue's own, else those of none; a routing queue reaches all") {
  const std::vector<ListedNode> nodes{{"n1", 68, ""}, {"g1", 20, "gpu"}};
  const auto names = [&](const std::string& queue) {
    std::string serving, reached;
    const QueueNodes of_queue = find_queue_nodes(queue, nodes, &ListedNode::queue);
    for (const ListedNode& node : nodes) {
      if (of_queue.serves(node.queue)) serving += node.name;
      if (of_queue.reaches(node.queue)) reached += node.name;
    }
    return serving + " " + reached;
  };
  CHECK(names("") == "n1 n1g1");
  CHECK(names("normal") == "n1 n1g1");
  CHECK(names("gpu") == "g1 g1");
}

TEST_SUITE_END();
