// SPDX-License-Identifier: MIT
// Expected: tfconfig_cluster_resolver.py reads cluster, task.type and task.index from TF_CONFIG; the older
// form is the command lines of the notes (founding document 002): 2 parameter servers, 3 workers on 2 hosts.
#include "tests/unit/launch/frameworks/framework_jobs.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using frameworks::Framework;
using tests::arguments_of;
using tests::framework_plan;
using tests::framework_request;
using tests::variables_of;

namespace {

// The notes' hosts: .20 has one card, .80 has two; ranks 0, 1 are the parameter servers, 2 to 4 the workers.
frameworks::FrameworkRequest notes_request() {
  frameworks::FrameworkRequest request;
  request.framework = Framework::tensorflow_ps;
  request.rank_map.hosts = {{"192.168.0.20", 0, {0, 2}}, {"192.168.0.80", 1, {1, 3, 4}}};
  launch::RankBinding none, first, second;
  first.gpu = 0;
  second.gpu = 1;
  request.rank_map.kinds = {{none, first}, {none, first, second}};
  request.ps = 2;
  return request;
}

}  // namespace

TEST_SUITE_BEGIN("launch/frameworks/tensorflow");

TEST_CASE("the notes' command lines, word for word") {
  auto request = notes_request();
  request.flags_style = true;
  const auto made = plan_framework(request);
  const std::string ps = "--ps_hosts=192.168.0.20:2222,192.168.0.80:2222";
  const std::string workers = "--worker_hosts=192.168.0.20:2223,192.168.0.80:2223,192.168.0.80:2224";
  struct Row {
    std::uint32_t rank;
    std::string job, index, gpus;
  };
  const std::vector<Row> rows{{0, "ps", "0", "-1"},
                              {1, "ps", "1", "-1"},
                              {2, "worker", "0", "0"},
                              {3, "worker", "1", "0"},
                              {4, "worker", "2", "1"}};
  for (const Row& row : rows) {
    CAPTURE(row.rank);
    const std::vector<std::string> expected{ps, workers, "--job_name=" + row.job,
                                            "--task_index=" + row.index};
    CHECK(arguments_of(request, made, row.rank) == expected);
    const std::map<std::string, std::string> visible{{"CUDA_VISIBLE_DEVICES", row.gpus}};
    CHECK(variables_of(request, made, row.rank) == visible);
  }
  REQUIRE(made.groups.size() == 2);
  CHECK(made.groups[0].is_service);
  CHECK(!made.groups[1].is_service);
}

TEST_CASE("the same job by TF_CONFIG") {
  const auto request = notes_request();
  const auto made = plan_framework(request);
  const std::string cluster =
      R"({"cluster":{"ps":["192.168.0.20:2222","192.168.0.80:2222"],"worker":["192.168.0.20:2223",)"
      R"("192.168.0.80:2223","192.168.0.80:2224"]},"task":{"type":)";
  CHECK(variables_of(request, made, 1).at("TF_CONFIG") == cluster + R"("ps","index":1}})");
  CHECK(variables_of(request, made, 4).at("TF_CONFIG") == cluster + R"("worker","index":2}})");
  CHECK(arguments_of(request, made, 4).empty());
}

TEST_CASE("a chief is rank 0, has the loop, and the others serve it") {
  auto request = notes_request();
  request.chief = true;
  request.ps = 1;
  const auto made = plan_framework(request);
  REQUIRE(made.groups.size() == 3);
  CHECK(!made.groups[0].is_service);
  CHECK((made.groups[1].is_service && made.groups[2].is_service));
  const std::string cluster =
      R"({"cluster":{"chief":["192.168.0.20:2222"],"ps":["192.168.0.80:2222"],"worker":["192.168.0.20:2223",)"
      R"("192.168.0.80:2223","192.168.0.80:2224"]},"task":{"type":)";
  CHECK(variables_of(request, made, 0).at("TF_CONFIG") == cluster + R"("chief","index":0}})");
  CHECK(variables_of(request, made, 4).at("TF_CONFIG") == cluster + R"("worker","index":2}})");
}

TEST_CASE("MultiWorkerMirroredStrategy: a worker a rank, by address, each with its own port") {
  const auto machine = tests::with_gpus(topology::regular_machine(2, 8, 1, "test"), {0, 1});
  const auto plan = framework_plan("2x2x1", {"h1", "h2"}, topology::RankOrder::packed, machine);
  auto request = framework_request(Framework::tensorflow, plan);
  request.address = {{"h1", "10.1.1.1"}, {"h2", "fd00::2"}};
  request.base_port = 3000;
  const auto made = plan_framework(request);
  const auto found = variables_of(request, made, 3);
  CHECK(found.at("TF_CONFIG") ==
        R"({"cluster":{"worker":["10.1.1.1:3000","10.1.1.1:3001","[fd00::2]:3000","[fd00::2]:3001"]},)"
        R"("task":{"type":"worker","index":3}})");
  CHECK(found.at("CUDA_VISIBLE_DEVICES") == "1");
}

TEST_CASE("one rank is MirroredStrategy: all GPUs, no TF_CONFIG") {
  const auto machine = tests::with_gpus(topology::regular_machine(2, 8, 1, "test"), {0, 1});
  const auto plan = framework_plan("1", {"h1"}, topology::RankOrder::packed, machine);
  const auto made = plan_framework(framework_request(Framework::tensorflow, plan));
  CHECK(made.groups.empty());
  CHECK(made.gpu_view == launch::GpuView::host);
}

TEST_CASE("what cannot be is refused") {
  auto request = notes_request();
  request.base_port = 65535;
  CHECK(tests::refusal_of([&] { plan_framework(request); }).find("= 65536 is above 65535 | --base-port") !=
        std::string::npos);
  request = notes_request();
  request.ps = 5;
  CHECK(tests::refusal_of([&] { plan_framework(request); }).starts_with("5 ranks, 5 of them no workers"));
}

TEST_SUITE_END();
