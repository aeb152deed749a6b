// SPDX-License-Identifier: MIT
// A CUDA plug-in without CUDA, for what ddl-train does around one: it computes on the CPU, and its NCCL are
// files. FAKE_GPUS: how many there are (2); FAKE_BUILD: another build; FAKE_NCCL: a directory, none without.
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "runtime/engine/cuda/gpu_plugin.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace ddlrun::runtime {
namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no one sets it
  return value == nullptr ? otherwise : value;
}

class FakeEngine : public Engine {
 public:
  FakeEngine(std::unique_ptr<Engine> engine, std::span<float> gradients, GpuSums sums)
      : engine_(std::move(engine)), gradients_(gradients), sums_(std::move(sums)) {}

  void start_step(const StepKey& key) override { engine_->start_step(key); }
  std::span<float> state() override { return engine_->state(); }
  LossSum train_batch(std::span<const float> images, std::span<const Label> labels, float scale) override {
    const LossSum sum = engine_->train_batch(images, labels, scale);
    if (!sums_.nccl_id.empty()) add_up();
    return sum;
  }
  LossSum evaluate(std::span<const float> images, std::span<const Label> labels) override {
    return engine_->evaluate(images, labels);
  }
  std::size_t evaluation_batch() const override { return engine_->evaluation_batch(); }

 private:
  std::string name_of(int rank) const { return fmt::format("{}/{}.{}", sums_.nccl_id, call_, rank); }

  void add_up() {
    const std::string mine = name_of(sums_.rank);
    std::ofstream(mine + ".new", std::ios::binary)
        .write(reinterpret_cast<const char*>(gradients_.data()),
               static_cast<std::streamsize>(gradients_.size_bytes()));
    std::filesystem::rename(mine + ".new", mine);
    std::vector<float> sum(gradients_.size(), 0.0F);
    std::vector<float> one(gradients_.size());
    for (int rank = 0; rank < sums_.ranks; ++rank) {
      while (!std::filesystem::exists(name_of(rank)))
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      std::ifstream(name_of(rank), std::ios::binary)
          .read(reinterpret_cast<char*>(one.data()), static_cast<std::streamsize>(gradients_.size_bytes()));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
    }
    std::copy(sum.begin(), sum.end(), gradients_.begin());
    call_ += 1;
  }

  std::unique_ptr<Engine> engine_;
  std::span<float> gradients_;
  GpuSums sums_;
  int call_ = 0;
};

class FakePlugin : public GpuPlugin {
 public:
  int device_count() const override { return std::stoi(setting("FAKE_GPUS", "2")); }
  std::string device_name(int device) const override {
    return fmt::format("GPU {} (fake, 0000:0{}:00.0)", device, device);
  }
  std::string library_versions() const override { return "no CUDA at all"; }
  bool has_nccl() const override { return !setting("FAKE_NCCL", "").empty(); }
  std::string make_nccl_id() const override { return setting("FAKE_NCCL", ""); }
  std::unique_ptr<Engine> make_engine(const Net& net, std::size_t batch, std::span<float> parameters,
                                      std::span<float> gradients, const GpuOptions& options) const override {
    fmt::print(stderr, "fake: device {}, kept {}, rank {} of {}\n", options.device,
               options.largest_kept_bytes, options.sums.rank, options.sums.ranks);
    return std::make_unique<FakeEngine>(make_cpu_engine(net, batch, parameters, gradients), gradients,
                                        options.sums);
  }
};

}  // namespace
}  // namespace ddlrun::runtime

extern "C" {

const char* ddl_train_gpu_build() {
  static const std::string build =
      ddlrun::runtime::setting("FAKE_BUILD", ddlrun::runtime::gpu_plugin_build().c_str());
  return build.c_str();
}

const ddlrun::runtime::GpuPlugin* ddl_train_gpu_plugin() {
  static const ddlrun::runtime::FakePlugin plugin;
  return &plugin;
}

}  // extern "C"
