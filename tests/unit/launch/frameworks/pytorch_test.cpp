// SPDX-License-Identifier: MIT
// Expected: torch/distributed/rendezvous.py reads RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT for env://;
// torchrun's local_elastic_agent.py sets the others beside them.
#include "tests/unit/launch/frameworks/framework_jobs.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using frameworks::Framework;
using tests::framework_plan;
using tests::framework_request;
using tests::variables_of;

TEST_SUITE_BEGIN("launch/frameworks/pytorch");

TEST_CASE("torch's variables for 2 hosts of 2 ranks, in both orders") {
  struct Row {
    topology::RankOrder order;
    std::uint32_t rank;
    std::string local_rank, node;
  };
  const std::vector<Row> rows{
      {topology::RankOrder::packed, 0, "0", "0"}, {topology::RankOrder::packed, 1, "1", "0"},
      {topology::RankOrder::packed, 2, "0", "1"}, {topology::RankOrder::packed, 3, "1", "1"},
      {topology::RankOrder::ddl, 1, "0", "1"},    {topology::RankOrder::ddl, 2, "1", "0"}};
  for (const Row& row : rows) {
    CAPTURE(row.rank);
    const auto plan = framework_plan("2x2x1", {"h1", "h2"}, row.order);
    auto request = framework_request(Framework::pytorch, plan);
    request.address = {{"h1", "10.1.1.1"}, {"h2", "10.1.1.2"}};
    request.master_port = 23456;
    const auto found = variables_of(request, plan_framework(request), row.rank);
    const std::string rank = std::to_string(row.rank);
    const std::map<std::string, std::string> expected{
        {"RANK", rank},           {"WORLD_SIZE", "4"},       {"LOCAL_RANK", row.local_rank},
        {"ROLE_RANK", rank},      {"ROLE_WORLD_SIZE", "4"},  {"LOCAL_WORLD_SIZE", "2"},
        {"NODE_RANK", row.node},  {"GROUP_RANK", row.node},  {"MASTER_ADDR", "10.1.1.1"},
        {"MASTER_PORT", "23456"}, {"GROUP_WORLD_SIZE", "2"}, {"ROLE_NAME", "default"}};
    CHECK(found == expected);
  }
}

TEST_CASE("a meeting point that the user set stays; every variable has a reason") {
  const auto plan = framework_plan("2", {"h1"});
  auto request = framework_request(Framework::pytorch, plan);
  request.environment["MASTER_PORT"] = "1234";
  request.master_port_why = "free here";
  const auto made = plan_framework(request);
  const auto found = variables_of(request, made, 0);
  CHECK(found.at("MASTER_PORT") == "1234");
  CHECK(found.at("MASTER_ADDR") == "h1");  // no network was chosen: its name
  for (const auto& variable : made.shared) CHECK(!variable.why.empty());
  for (const auto& variable : made.groups.at(0).variables) CHECK(!variable.why.empty());
}

TEST_CASE("ranks see all GPUs of their host: scripts choose with LOCAL_RANK") {
  const auto machine = tests::with_gpus(topology::regular_machine(2, 8, 1, "test"), {0, 1});
  const auto plan = framework_plan("2", {"h1"}, topology::RankOrder::packed, machine);
  CHECK(plan_framework(framework_request(Framework::pytorch, plan)).gpu_view == launch::GpuView::host);
  const auto bare = framework_plan("2", {"h1"});
  CHECK(plan_framework(framework_request(Framework::pytorch, bare)).gpu_view == launch::GpuView::leave);
}

TEST_CASE("--framework takes its names and no others") {
  for (const char* name :
       {"none", "caffe-ddl", "ddl", "intel-caffe", "horovod", "pytorch", "tensorflow", "tensorflow-ps"})
    CHECK(name_of(frameworks::parse_framework(name).value()) == name);
  CHECK(!frameworks::parse_framework("auto"));
  CHECK(tests::refusal_of([] {
          frameworks::parse_framework("pytroch");
        }).ends_with("| --framework | --framework pytorch"));
}

TEST_CASE("ranks of libddl without MPI: with the user's token only") {
  const auto plan = framework_plan("2x2x1", {"h1", "h2"});
  for (const Framework framework : {Framework::none, Framework::ddl}) {
    auto request = framework_request(framework, plan);
    request.without_mpi = true;
    request.address = {{"h1", "10.1.1.1"}, {"h2", "10.1.1.2"}};
    request.master_port = 23456;
    request.libddl_port = 23457;  // PyTorch's own store may listen at the other
    CHECK(variables_of(request, plan_framework(request), 3).count("DDL_RANK") == 0);
    request.environment["DDL_TOKEN_FILE"] = "/home/me/token";
    const auto made = plan_framework(request);
    const auto found = variables_of(request, made, 3);
    CHECK(found.at("DDL_RANK") == "3");
    CHECK(found.at("DDL_SIZE") == "4");
    CHECK(found.at("DDL_MASTER") == "10.1.1.1:23457");
    CHECK(found.at("MASTER_PORT") == "23456");
    for (const auto& variable : made.shared)
      if (variable.name == "DDL_TOKEN_FILE") CHECK(variable.from_user);  // passed on, not shown
    request.environment["DDL_MASTER"] = "h9:29400";
    CHECK(variables_of(request, plan_framework(request), 3).at("DDL_MASTER") == "h9:29400");
  }
}

TEST_SUITE_END();
