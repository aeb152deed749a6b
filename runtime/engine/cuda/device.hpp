// SPDX-License-Identifier: MIT
// One GPU as this rank uses it: a stream on which everything runs in order, the libraries' handles, memory.
#pragma once

#include "runtime/engine/cuda/check.hpp"

#include <cstddef>
#include <memory>

namespace ddlrun::runtime::gpu {

// Uses the device for this thread until it ends.
class Device {
 public:
  Device(int index, bool tensor_float);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int index() const { return index_; }
  bool tensor_float() const { return tensor_float_; }
  cudaStream_t stream() const { return stream_; }
  cudnnHandle_t cudnn() const { return cudnn_; }
  cublasHandle_t cublas() const { return cublas_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  int index_;
  bool tensor_float_;
  cudaStream_t stream_ = nullptr;
  cudnnHandle_t cudnn_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
};

// Lasting memory of one GPU, in elements of T.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* data = nullptr;
    check(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc");
    data_.reset(static_cast<T*>(data));
    check(cudaMemset(data, 0, count * sizeof(T)), "cudaMemset");
    // It runs on the stream of all, for which the Device's own does not wait.
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
  T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }

 private:
  struct Free {
    void operator()(T* data) const { cudaFree(data); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

// Host memory that the GPU copies from and to without the CPU.
template <typename T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* data = nullptr;
    check(cudaMallocHost(&data, count * sizeof(T)), "cudaMallocHost");
    data_.reset(static_cast<T*>(data));
  }
  T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }

 private:
  struct Free {
    void operator()(T* data) const { cudaFreeHost(data); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  void let_wait(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace ddlrun::runtime::gpu
