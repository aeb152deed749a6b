// SPDX-License-Identifier: MIT
#include "launch/rank/rank_setup.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace ddlrun;
using launch::GpuFacts;
using launch::GpuView;
using launch::MemoryPolicy;
using launch::RankBinding;
using launch::RankIdentity;
using launch::RankLauncher;
using launch::RankMap;
using launch::RankSetup;

namespace {

// Two hosts of two ranks, interleaved: rank 2 is local rank 1 of h1.
RankMap gpu_sheet() {
  RankMap rank_map;
  rank_map.kinds = {
      {RankBinding{{0, 1}, 0, 0, "0002:01:00.0", "mlx5_0"}, RankBinding{{8, 9}, 8, 1, "0006:01:00.0", ""}}};
  rank_map.hosts = {{"h1", 0, {0, 2}}, {"h2", 0, {1, 3}}};
  launch::RankGroup group;
  group.ranks = 4;
  rank_map.groups = {group};
  return rank_map;
}

struct Driver {
  std::map<std::string, GpuFacts> gpus{{"0002:01:00.0", {"GPU-a", 0, false}},
                                       {"0006:01:00.0", {"GPU-b", 1, false}}};
};

RankSetup setup(const RankMap& rank_map, std::uint32_t rank, Driver driver = {},
                RankLauncher launcher = RankLauncher::open_mpi) {
  return launch::plan_rank_setup(rank_map, *launch::find_rank(rank_map, rank), {rank, 0, launcher},
                                 {"prog", "{rank}"},
                                 [&](const std::string& pci) { return driver.gpus[pci]; });
}

// Without those that number the rank, which each rank gets.
EnvVars more_variables(const RankSetup& found) {
  EnvVars more = found.variables;
  std::erase_if(more, [](const auto& entry) {
    return entry.first.starts_with("DDLRUN_") && entry.first != "DDLRUN_NIC" &&
           entry.first != "DDLRUN_RESULT";
  });
  return more;
}

}  // namespace

TEST_SUITE_BEGIN("launch/rank/rank_setup");

TEST_CASE("the driver's file of a GPU") {
  // As driver 535 writes it for a P100.
  const GpuFacts facts = launch::parse_gpu_information(
      "Model: \t\t Tesla P100-SXM2-16GB\nIRQ:   \t\t 59\n"
      "GPU UUID: \t GPU-8932f937-d72c-4106-c12f-20bd9faed9f6\n"
      "Video BIOS: \t 86.00.41.00.02\nBus Location: \t 0002:01:00.0\nDevice Minor: \t 3\n");
  CHECK(facts.uuid == "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6");
  CHECK(facts.device_minor == 3);
  CHECK(launch::parse_gpu_information("GPU UUID: \t GPU-" + std::string(8, '?') + "-" + std::string(4, '?') +
                                      "\n")
            .uuid.empty());
  CHECK(launch::parse_gpu_information("").uuid.empty());
}

TEST_CASE("every launcher's ranks get the same numbers") {
  const std::map<std::string, std::string> numbers{{"DDLRUN_RANK", "2"},       {"DDLRUN_SIZE", "4"},
                                                   {"DDLRUN_LOCAL_RANK", "1"}, {"DDLRUN_LOCAL_SIZE", "2"},
                                                   {"DDLRUN_NODE_RANK", "0"},  {"DDLRUN_NODE_COUNT", "2"}};
  for (const RankLauncher launcher : {RankLauncher::ddlrun, RankLauncher::open_mpi, RankLauncher::hydra,
                                      RankLauncher::pmix, RankLauncher::slurm}) {
    const RankSetup found = setup(gpu_sheet(), 2, {}, launcher);
    for (const auto& [name, value] : numbers) {
      CAPTURE(name);
      REQUIRE(found.variables.count(name) == 1);
      CHECK(found.variables.at(name) == value);
    }
  }
}

TEST_CASE("which GPUs a rank sees") {
  struct Row {
    GpuView view;
    std::uint32_t rank;
    std::string visible;  // "-": not set
  };
  for (const Row& row :
       {Row{GpuView::leave, 2, "-"}, Row{GpuView::one, 0, "GPU-a"}, Row{GpuView::one, 2, "GPU-b"},
        Row{GpuView::one, 3, "GPU-b"}, Row{GpuView::host, 2, "GPU-a,GPU-b"}}) {
    CAPTURE(row.rank);
    RankMap rank_map = gpu_sheet();
    rank_map.gpu_view = row.view;
    const RankSetup found = setup(rank_map, row.rank);
    const auto at = found.variables.find("CUDA_VISIBLE_DEVICES");
    CHECK((at == found.variables.end() ? "-" : at->second) == row.visible);
    CHECK(found.variables.count("CUDA_DEVICE_ORDER") == 0);
  }
}

TEST_CASE("GPUs without a UUID go by number, split ones are left alone, groups' own values win") {
  RankMap rank_map = gpu_sheet();
  rank_map.gpu_view = GpuView::host;
  Driver silent;
  silent.gpus.erase("0006:01:00.0");
  CHECK(setup(rank_map, 0, silent).variables.at("CUDA_VISIBLE_DEVICES") == "0,1");
  CHECK(setup(rank_map, 0, silent).variables.at("CUDA_DEVICE_ORDER") == "PCI_BUS_ID");
  Driver split;
  split.gpus["0002:01:00.0"].is_split = true;
  CHECK(setup(rank_map, 0, split).variables.count("CUDA_VISIBLE_DEVICES") == 0);
  CHECK(setup(rank_map, 0, split).remarks.size() == 1);
  rank_map.groups[0].variables = {{"CUDA_VISIBLE_DEVICES", "", "a parameter server"}};
  CHECK(setup(rank_map, 0).variables.at("CUDA_VISIBLE_DEVICES").empty());
  // A rank without a GPU beside ranks that have some sees none.
  RankMap mixed = gpu_sheet();
  mixed.kinds[0][1].gpu = -1;
  mixed.gpu_view = GpuView::one;
  CHECK(setup(mixed, 2).variables.at("CUDA_VISIBLE_DEVICES").empty());
}

TEST_CASE("processors, memory, directory, words, and what hydra miscounts") {
  RankMap rank_map = gpu_sheet();
  RankSetup plain = setup(rank_map, 2);
  CHECK(plain.pus.empty());
  CHECK(plain.memory == MemoryPolicy::leave);
  CHECK(plain.removed == std::vector<std::string>{"DDLRUN_RANKS"});
  CHECK(plain.program == Command{"prog", "{rank}"});  // the user's words are never replaced
  CHECK(more_variables(plain).empty());
  CHECK(more_variables(setup(rank_map, 0)) == EnvVars{{"DDLRUN_NIC", "mlx5_0"}});
  rank_map.bind = true;
  rank_map.memory = MemoryPolicy::bind;
  rank_map.workdir = "/data";
  rank_map.groups[0].arguments = {"--task_index={group_rank}"};
  rank_map.groups[0].variables = {{"RANK", "{rank}", ""}, {"LOCAL_RANK", "{local_rank}", ""}};
  const RankSetup full = setup(rank_map, 2, {}, RankLauncher::hydra);
  CHECK(full.pus == std::vector<int>{8, 9});
  CHECK(full.memory == MemoryPolicy::bind);
  CHECK(full.numa_node == 8);
  CHECK(full.workdir == "/data");
  CHECK(full.program == Command{"prog", "{rank}", "--task_index=2"});
  CHECK(more_variables(full) ==
        EnvVars{{"LOCAL_RANK", "1"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}, {"RANK", "2"}});
  rank_map.kinds[0][1].numa_node = -1;
  CHECK(setup(rank_map, 2).memory == MemoryPolicy::leave);
}

TEST_CASE("a refusal names both sets") {
  CHECK(launch::judge_binding({0, 1}, {0, 1}, 0).empty());
  CHECK(launch::judge_binding({0, 1, 2}, {0}, 0) == "the rank is to run on PUs 0-2, but the kernel allows 0");
  CHECK(launch::judge_binding({8}, {0, 1}, 22) ==
        "the rank is to run on PUs 8, but the kernel allows 0-1 (Invalid argument)");
}

TEST_CASE("rank 0 alone gets the file for its result, and a rank map carries it") {
  RankMap rank_map = gpu_sheet();
  CHECK(setup(rank_map, 0).variables.count("DDLRUN_RESULT") == 0);
  rank_map.result = "/runs/a b/result";
  CHECK(rank_map.has_content());
  CHECK(launch::parse_rank_map(launch::render_rank_map(rank_map)) == rank_map);
  CHECK(setup(rank_map, 0).variables.at("DDLRUN_RESULT") == "/runs/a b/result");
  for (const std::uint32_t rank : {1u, 2u, 3u})
    CHECK(setup(rank_map, rank).variables.count("DDLRUN_RESULT") == 0);
}

TEST_SUITE_END();
