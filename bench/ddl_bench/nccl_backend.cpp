// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/nccl_backend.hpp"

#include "ddl/gpu/gpu_plugin.hpp"

#include <fmt/format.h>

#include <memory>

namespace ddlrun::ddl_bench {
namespace {

// Filled and looked at on the host, added up on the GPU.
class NcclCase : public Case {
 public:
  NcclCase(std::shared_ptr<ddl::Context> context, std::shared_ptr<ddl::Gpu> gpu, ddl::DataType type,
           std::size_t bytes)
      : context_(std::move(context)), gpu_(std::move(gpu)), host_(bytes), memory_(gpu_->allocate(bytes)) {
    tensor_.data = memory_.get();
    tensor_.count = bytes / ddl::size_of(type);
    tensor_.type = type;
    tensor_.memory = ddl::Memory::device;
  }
  std::span<std::byte> input() override { return host_; }
  std::span<const std::byte> output() override {
    gpu_->copy(host_.data(), memory_.get(), host_.size());
    return host_;
  }
  void reset() override { gpu_->copy(memory_.get(), host_.data(), host_.size()); }
  void call() override { context_->all_reduce(tensor_, ddl::Operation::sum); }

 private:
  std::shared_ptr<ddl::Context> context_;
  std::shared_ptr<ddl::Gpu> gpu_;
  std::vector<std::byte> host_;
  std::shared_ptr<std::byte> memory_;
  ddl::Tensor tensor_;
};

// Asked before any rank begins to connect.
std::string find_obstacle_here(int local_rank) {
  try {
    const ddl::GpuPlugin& plugin = ddl::load_gpu_plugin();
    const int count = plugin.device_count();
    plugin.require_nccl();
    if (local_rank < count) return "";
    return count == 0 ? "there is no GPU" : fmt::format("{} GPU(s) for local rank {}", count, local_rank);
  } catch (const ddl::Error& error) {
    return error.what();
  }
}

}  // namespace

NcclBackend connect_nccl(World& world, int local_rank, ddl::Options options, ddl::DataType type) {
  for (const std::string& obstacle : world.gather(find_obstacle_here(local_rank)))
    if (!obstacle.empty()) return {std::nullopt, "no nccl: " + obstacle};
  options.mode = ddl::Mode::nccl;
  int argc = 0;
  char** argv = nullptr;
  const auto context = std::make_shared<ddl::Context>(argc, argv, options);
  const ddl::GpuPlugin& plugin = ddl::load_gpu_plugin();
  const std::shared_ptr<ddl::Gpu> gpu = plugin.open(plugin.current_device().value_or(0));
  Backend backend{"nccl", Roofline::none, [context, gpu, type](std::size_t bytes) {
                    std::vector<std::unique_ptr<Case>> cases;
                    cases.push_back(std::make_unique<NcclCase>(context, gpu, type, bytes));
                    return cases;
                  }};
  return {std::move(backend), "nccl: sums in GPU memory, rank 0's on " + context->device()};
}

}  // namespace ddlrun::ddl_bench
