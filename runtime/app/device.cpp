// SPDX-License-Identifier: MIT
#include "runtime/app/device.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "runtime/engine/cuda/gpu_plugin.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

namespace ddlrun::runtime {
namespace {

RunDevice on_cpu(std::string note) {
  return {"cpu", "oneDNN " + cpu_library_version(), std::move(note), make_cpu_engine, nullptr};
}

// This rank's.
struct OwnGpu {
  const GpuPlugin* plugin = nullptr;  // null: this rank computes nothing
  int device = 0;
};

OwnGpu find_gpu(std::size_t workers, const Communicator& ranks) {
  if (static_cast<std::size_t>(ranks.rank()) >= workers) return {};
  const GpuPlugin& plugin = load_gpu_plugin();
  const int device = choose_gpu(ranks.local_rank(), plugin.device_count());
  require_gpu(plugin, device);
  return {&plugin, device};
}

// With --device auto: the GPUs, where all workers have one; else why not.
struct FoundGpu {
  std::optional<OwnGpu> gpu;
  std::string why_not;
};
FoundGpu look_for_gpus(std::size_t workers, Communicator& ranks) {
  OwnGpu gpu;
  std::string why;
  try {
    gpu = find_gpu(workers, ranks);
  } catch (const Error& error) {
    why = error.message().what;
  }
  const std::vector<std::string> all = ranks.gather_all(why);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].empty()) return {std::nullopt, fmt::format("rank {}: {}", rank, all[rank])};
  }
  return {gpu, ""};
}

// With NCCL_HOSTID: NCCL takes ranks with other values for ranks on other hosts, which may share a GPU.
std::string own_host() {
  std::array<char, 65> name{};
  gethostname(name.data(), name.size() - 1);
  const char* const id = std::getenv("NCCL_HOSTID");  // NOLINT(concurrency-mt-unsafe): no thread of ours runs yet
  return id == nullptr ? name.data() : fmt::format("{} (NCCL_HOSTID {})", name.data(), printable(id));
}

// Of the workers.
std::vector<RankGpu> gather_gpus(const OwnGpu& own, std::size_t workers, Communicator& ranks) {
  const std::string mine = own.plugin == nullptr
                               ? ""
                               : fmt::format("{}\n{}\n{}", own_host(), own.plugin->device_name(own.device),
                                             own.plugin->has_nccl() ? "nccl" : "");
  std::vector<std::string> all = ranks.gather_all(mine);
  all.resize(workers);
  std::vector<RankGpu> gpus;
  for (const std::string& one : all) {
    const std::vector<std::string_view> lines = split(one, '\n');
    gpus.push_back({std::string(lines.at(0)), std::string(lines.at(1)), lines.at(2) == "nccl"});
  }
  return gpus;
}

// How NCCL reduces the workers' gradients; empty: through host memory.
GpuSums open_sums(const OwnGpu& own, Communicator& ranks) {
  std::string id;
  run_collectively(ranks, [&] {
    if (ranks.rank() == 0) id = own.plugin->make_nccl_id();
  });
  return {ranks.gather_all(id).front(), ranks.rank(), ranks.size()};
}

// How many of which: "rank 0: GPU 0 (NVIDIA H200, 0000:3b:00.0) of h1, and 3 more".
std::string render_gpus(const std::vector<RankGpu>& gpus) {
  const std::string first = fmt::format("{} of {}", gpus.front().name, gpus.front().host);
  return gpus.size() == 1 ? first : fmt::format("{} for rank 0, and {} more", first, gpus.size() - 1);
}

RunDevice on_gpus(const OwnGpu& own, const TrainOptions& options, std::size_t workers, Communicator& ranks) {
  const std::vector<RankGpu> gpus = gather_gpus(own, workers, ranks);
  const std::string versions = own.plugin == nullptr ? "" : own.plugin->library_versions();
  RunDevice device{"cuda", ranks.gather_all(versions).front(), render_gpus(gpus), {}, nullptr};
  GpuOptions gpu;
  gpu.device = own.device;
  gpu.tensor_float = options.tf32;
  if (options.lms_kb) gpu.largest_kept_bytes = *options.lms_kb * 1024;
  if (workers > 1 && options.parameter_servers == 0) {
    const std::string obstacle = find_nccl_obstacle(gpus);
    device.note +=
        obstacle.empty() ? "; all-reduce by NCCL" : "; all-reduce through host memory: " + obstacle;
    if (obstacle.empty()) {
      gpu.sums = open_sums(own, ranks);
      device.gpu_communicator = std::make_shared<GpuCommunicator>(ranks);
    }
  }
  device.make_engine = [own, gpu, sums = device.gpu_communicator](const Net& net, std::size_t batch,
                                                                  std::span<float> parameters,
                                                                  std::span<float> gradients) {
    if (sums) sums->mark_as_summed(gradients);
    return own.plugin->make_engine(net, batch, parameters, gradients, gpu);
  };
  return device;
}

}  // namespace

RunDevice choose_device(const TrainOptions& options, std::size_t workers, Communicator& ranks) {
  if (options.device == "cpu") return on_cpu("");
  OwnGpu own;
  if (options.device == "auto") {
    const FoundGpu found = look_for_gpus(workers, ranks);
    if (!found.gpu) return on_cpu("cpu: --device auto found no GPU: " + found.why_not);
    own = *found.gpu;
  } else {
    run_collectively(ranks, [&] { own = find_gpu(workers, ranks); });
  }
  return on_gpus(own, options, workers, ranks);
}

}  // namespace ddlrun::runtime
