// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/cuda_engine.hpp"

#include "runtime/engine/cuda/kernels.hpp"
#include "runtime/engine/cuda/nccl.hpp"
#include "runtime/engine/cuda/program.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace ddlrun::runtime::gpu {
namespace {

constexpr std::size_t largest_evaluation = 256;
constexpr double sum_patience_seconds = 300.0;  // as libddl waits

// The caller's vector on the host. Its whole pages are made known to the driver, so that they are copied
// without a stage; what lies on pages that others may have part in is copied by itself, for no copy may cross
// from known memory to other memory. Where the driver refuses, copies are slower, not wrong.
class HostVector {
 public:
  explicit HostVector(std::span<float> values) : values_(values) {
    const auto begin = reinterpret_cast<std::uintptr_t>(values.data());
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t last = (begin + values.size_bytes()) / page * page;
    if (first >= last) return;
    void* const pages = values.data() + (first - begin) / sizeof(float);
    if (cudaHostRegister(pages, last - first, cudaHostRegisterDefault) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return;
    }
    known_begin_ = (first - begin) / sizeof(float);
    known_end_ = (last - begin) / sizeof(float);
  }
  ~HostVector() {
    if (known_end_ > known_begin_) cudaHostUnregister(values_.data() + known_begin_);
  }
  HostVector(const HostVector&) = delete;
  HostVector& operator=(const HostVector&) = delete;

  void copy_in(float* to, cudaStream_t stream) const {
    for_each_part([&](std::size_t at, std::size_t bytes) {
      check(cudaMemcpyAsync(to + at, values_.data() + at, bytes, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
    });
  }
  void copy_out(const float* from, cudaStream_t stream) const {
    for_each_part([&](std::size_t at, std::size_t bytes) {
      check(cudaMemcpyAsync(values_.data() + at, from + at, bytes, cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync");
    });
  }

 private:
  static constexpr std::uintptr_t page = 4096;

  template <typename Copy>
  void for_each_part(const Copy& copy) const {
    const std::size_t cuts[] = {0, known_begin_, known_end_, values_.size()};
    for (int part = 0; part < 3; ++part) {
      if (cuts[part] < cuts[part + 1]) copy(cuts[part], (cuts[part + 1] - cuts[part]) * sizeof(float));
    }
  }

  std::span<float> values_;
  std::size_t known_begin_ = 0;
  std::size_t known_end_ = 0;
};

class CudaEngine : public Engine {
 public:
  CudaEngine(const Net& net, std::size_t batch, std::span<float> parameters, std::span<float> gradients,
             const GpuOptions& options)
      : net_(net),
        device_(options.device, options.tensor_float),
        group_(options.sums.nccl_id.empty()
                   ? nullptr
                   : make_nccl_group(device_, options.sums.nccl_id, options.sums.rank, options.sums.ranks)),
        parameters_(parameters),
        gradients_(gradients),
        device_parameters_(parameters.size()),
        device_gradients_(gradients.size()),
        device_state_(net_.state_count),
        state_(initial_state(net_)),
        training_(net_, batch, {device_parameters_.data(), device_gradients_.data(), device_state_.data()},
                  device_, options.largest_kept_bytes),
        evaluation_batch_(std::max(std::min(largest_evaluation, batch), std::size_t{1})),
        images_(std::max(batch, evaluation_batch_) * net_.input.count()),
        labels_(std::max(batch, evaluation_batch_)),
        losses_(labels_.size()),
        correct_(labels_.size()),
        device_labels_(labels_.size()),
        device_losses_(labels_.size()),
        device_correct_(labels_.size()),
        logit_gradient_(batch * static_cast<std::size_t>(net_.classes)) {}

  void start_step(const StepKey& key) override { key_ = key; }
  std::span<float> state() override { return state_; }
  std::size_t evaluation_batch() const override { return evaluation_batch_; }

  LossSum train_batch(std::span<const float> images, std::span<const Label> labels, float scale) override {
    upload_vectors();
    return run(training_, images, labels, scale, logit_gradient_.data());
  }

  LossSum evaluate(std::span<const float> images, std::span<const Label> labels) override {
    if (!inference_) {
      inference_.emplace(net_, evaluation_batch_,
                         DeviceVectors{device_parameters_.data(), nullptr, device_state_.data()}, device_,
                         SIZE_MAX);
    }
    upload_vectors();
    return run(*inference_, images, labels, 0.0F, nullptr);
  }

 private:
  LossSum run(Program& program, std::span<const float> images, std::span<const Label> labels, float scale,
              float* logit_gradient) {
    std::copy(images.begin(), images.end(), images_.data());
    std::copy(labels.begin(), labels.end(), labels_.data());
    copy_in(program.images(), images_.data(), images.size_bytes());
    copy_in(device_labels_.data(), labels_.data(), labels.size_bytes());
    const float* logits = program.forward(key_);
    softmax_loss(logits, device_labels_.data(), labels.size(), net_.classes, scale, device_losses_.data(),
                 device_correct_.data(), logit_gradient, device_.stream());
    copy_out(losses_.data(), device_losses_.data(), labels.size() * sizeof(float));
    copy_out(correct_.data(), device_correct_.data(), labels.size() * sizeof(std::int32_t));
    if (logit_gradient != nullptr) {
      program.backward(logit_gradient, key_);
      sum_gradients();
      gradients_.copy_out(device_gradients_.data(), device_.stream());
      copy_out(state_.data(), device_state_.data(), state_.size() * sizeof(float));
    }
    device_.wait();
    LossSum sum;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      sum.loss += static_cast<double>(losses_.data()[i]);
      sum.correct += static_cast<std::size_t>(correct_.data()[i]);
    }
    return sum;
  }

  // Waited for here: a copy to memory that the driver does not know would wait without end for a lost rank.
  void sum_gradients() {
    if (group_ == nullptr) return;
    group_->all_reduce_sum(device_gradients_.data(), device_gradients_.size());
    group_->wait(sum_patience_seconds);
  }

  void upload_vectors() {
    parameters_.copy_in(device_parameters_.data(), device_.stream());
    copy_in(device_state_.data(), state_.data(), state_.size() * sizeof(float));
  }

  void copy_in(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0)
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, device_.stream()), "cudaMemcpyAsync");
  }
  void copy_out(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0)
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, device_.stream()), "cudaMemcpyAsync");
  }

  Net net_;
  Device device_;
  std::unique_ptr<NcclGroup> group_;  // null: the gradients are this rank's own
  HostVector parameters_;
  HostVector gradients_;
  DeviceArray<float> device_parameters_;
  DeviceArray<float> device_gradients_;
  DeviceArray<float> device_state_;
  std::vector<float> state_;
  Program training_;
  std::size_t evaluation_batch_;
  PinnedArray<float> images_;
  PinnedArray<Label> labels_;
  PinnedArray<float> losses_;
  PinnedArray<std::int32_t> correct_;
  DeviceArray<Label> device_labels_;
  DeviceArray<float> device_losses_;
  DeviceArray<std::int32_t> device_correct_;
  DeviceArray<float> logit_gradient_;
  std::optional<Program> inference_;
  StepKey key_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(const Net& net, std::size_t batch, std::span<float> parameters,
                                         std::span<float> gradients, const GpuOptions& options) {
  return std::make_unique<CudaEngine>(net, batch, parameters, gradients, options);
}

}  // namespace ddlrun::runtime::gpu
