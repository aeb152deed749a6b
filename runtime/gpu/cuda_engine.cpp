// SPDX-License-Identifier: MIT
#include "runtime/gpu/cuda_engine.hpp"

#include "runtime/gpu/cuda_kernels.hpp"
#include "runtime/gpu/cuda_program.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace ddlrun::runtime::gpu {
namespace {

constexpr std::size_t largest_evaluation = 256;

// Makes memory of others known to the driver, so that copies need no stage. Where it refuses, copies are
// slower, not wrong.
class Registered {
 public:
  explicit Registered(std::span<float> memory)
      : memory_(memory.data()),
        done_(!memory.empty() &&
              cudaHostRegister(memory_, memory.size_bytes(), cudaHostRegisterDefault) == cudaSuccess) {
    if (!done_) static_cast<void>(cudaGetLastError());
  }
  ~Registered() {
    if (done_) cudaHostUnregister(memory_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  float* memory_;
  bool done_;
};

class CudaEngine : public Engine {
 public:
  CudaEngine(const Net& net, std::size_t batch, std::span<float> parameters, std::span<float> gradients,
             const GpuOptions& options)
      : net_(net),
        parameters_(parameters),
        gradients_(gradients),
        device_(options.device, options.tensor_float),
        registered_parameters_(parameters),
        registered_gradients_(gradients),
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
    const LossSum sum = run(training_, images, labels, scale, logit_gradient_.data());
    return sum;
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
      copy_out(gradients_.data(), device_gradients_.data(), gradients_.size_bytes());
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

  void upload_vectors() {
    copy_in(device_parameters_.data(), parameters_.data(), parameters_.size_bytes());
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
  std::span<float> parameters_;
  std::span<float> gradients_;
  Device device_;
  Registered registered_parameters_;
  Registered registered_gradients_;
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
