// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/activations.hpp"

namespace ddlrun::runtime::gpu {

struct Values::Value {
  std::size_t bytes = 0;
  float* device = nullptr;  // null: on the host, or nowhere
  bool sent = false;        // lies on the host
  bool fetched = false;     // on its way back, or back
  PinnedArray<float> host;  // kept for the next step
  Event made, left, came;   // before it leaves; when it has left; when it is back
};

Values::Values(const Device& device, std::size_t count, std::size_t largest_kept)
    : device_(device), largest_kept_(largest_kept) {
  check(cudaStreamCreateWithFlags(&away_, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaStreamCreateWithFlags(&back_, cudaStreamNonBlocking), "cudaStreamCreate");
  for (std::size_t i = 0; i < count; ++i) values_.push_back(std::make_unique<Value>());
}

Values::~Values() {
  cudaDeviceSynchronize();
  for (const auto& value : values_) {
    if (value->device != nullptr) cudaFreeAsync(value->device, device_.stream());
  }
  if (away_ != nullptr) cudaStreamDestroy(away_);
  if (back_ != nullptr) cudaStreamDestroy(back_);
}

float* Values::make(std::size_t number, std::size_t floats) {
  Value& value = *values_[number];
  value.bytes = floats * sizeof(float);
  value.sent = value.fetched = false;
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, value.bytes, device_.stream()), "cudaMallocAsync");
  value.device = static_cast<float*>(memory);
  return value.device;
}

void Values::drop(std::size_t number) {
  Value& value = *values_[number];
  if (value.device == nullptr) return;
  check(cudaFreeAsync(value.device, device_.stream()), "cudaFreeAsync");
  value.device = nullptr;
}

void Values::send(std::size_t number) {
  Value& value = *values_[number];
  if (value.bytes <= largest_kept_) return;
  if (value.host.size() * sizeof(float) < value.bytes) {
    host_bytes_ += value.bytes - value.host.size() * sizeof(float);
    value.host = PinnedArray<float>(value.bytes / sizeof(float));
  }
  value.made.record(device_.stream());
  value.made.let_wait(away_);
  check(cudaMemcpyAsync(value.host.data(), value.device, value.bytes, cudaMemcpyDeviceToHost, away_),
        "cudaMemcpyAsync");
  check(cudaFreeAsync(value.device, away_), "cudaFreeAsync");
  value.left.record(away_);
  value.device = nullptr;
  value.sent = true;
}

void Values::fetch(std::size_t number) {
  Value& value = *values_[number];
  if (!value.sent || value.fetched) return;
  value.made.record(device_.stream());  // not before the stream is here: it would take memory too early
  value.made.let_wait(back_);
  value.left.let_wait(back_);
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, value.bytes, back_), "cudaMallocAsync");
  value.device = static_cast<float*>(memory);
  check(cudaMemcpyAsync(value.device, value.host.data(), value.bytes, cudaMemcpyHostToDevice, back_),
        "cudaMemcpyAsync");
  value.came.record(back_);
  value.fetched = true;
}

float* Values::at(std::size_t number) {
  Value& value = *values_[number];
  if (value.sent) {
    fetch(number);
    value.came.let_wait(device_.stream());
    value.sent = false;
  }
  return value.device;
}

}  // namespace ddlrun::runtime::gpu
