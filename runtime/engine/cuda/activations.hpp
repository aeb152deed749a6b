// SPDX-License-Identifier: MIT
// Activations and their gradients between their making and their last use: stream-ordered memory, and for
// large ones
// (--lms) a place in host memory between the way forward and the way back. What goes away gives its device
// memory to what comes: the pool lets the stream wait where it has to.
#pragma once

#include "runtime/engine/cuda/device.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace ddlrun::runtime::gpu {

class Values {
 public:
  // `count` values are known by their number. Those of more than `largest_kept` bytes go to the host when
  // sent.
  Values(const Device& device, std::size_t count, std::size_t largest_kept);
  ~Values();
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  float* make(std::size_t value, std::size_t floats);
  // Nothing is left to be done with it: its memory is free once the stream comes here.
  void drop(std::size_t value);
  // Not needed on the way forward any more, but on the way back.
  void send(std::size_t value);
  // Starts its way back, as soon as the stream comes here. Does nothing for values that were never sent.
  void fetch(std::size_t value);
  // On the device, from here on the stream.
  float* at(std::size_t value);

  std::size_t host_bytes() const { return host_bytes_; }  // that sent values take

 private:
  struct Value;
  const Device& device_;
  std::size_t largest_kept_;
  std::size_t host_bytes_ = 0;
  cudaStream_t away_ = nullptr;
  cudaStream_t back_ = nullptr;
  std::vector<std::unique_ptr<Value>> values_;
};

}  // namespace ddlrun::runtime::gpu
