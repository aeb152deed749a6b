// SPDX-License-Identifier: MIT
// Vectors in GPU memory for tests: filled with small whole numbers, compared with sums in closed form.
#pragma once

#include "ddl/ddl.hpp"
#include "tests/support/kernel_reference.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace gpu_numbers {

inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s failed: %s\n", call, cudaGetErrorString(code));
  std::_Exit(1);
}

// A GPU for each rank of the host, or one for several (tests/support/share_gpu.sh).
inline void select_gpu(int local_rank) {
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
  check(cudaSetDevice(local_rank % gpus), "cudaSetDevice");
}

// Element i of rank r; and what becomes of it over n ranks.
template <typename Number>
double value(std::size_t i, int r) {
  const auto least = std::is_same_v<Number, std::uint8_t> ? 0.0 : -3.0;
  return static_cast<double>((i * 7 + static_cast<std::size_t>(r) * 3) % 11) + least;
}
template <typename Number>
double result(std::size_t i, int n, ddl::Operation operation) {
  double all = value<Number>(i, 0);
  for (int r = 1; r < n; ++r) {
    const double next = value<Number>(i, r);
    all = operation == ddl::Operation::max       ? std::max(all, next)
          : operation == ddl::Operation::min     ? std::min(all, next)
          : operation == ddl::Operation::product ? all * next
                                                 : all + next;
  }
  return operation == ddl::Operation::average ? all / n : all;
}

template <typename Number>
Number make(double number) {
  if constexpr (std::is_same_v<Number, ddl::Float16>) {
    return {kernel_reference::half_by_arithmetic(static_cast<float>(number))};
  } else if constexpr (std::is_same_v<Number, ddl::BFloat16>) {
    return {kernel_reference::brain_of(static_cast<float>(number))};
  } else if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(static_cast<std::int64_t>(number));  // wraps around
  } else {
    return static_cast<Number>(number);
  }
}
template <typename Number>
double read(Number number) {
  if constexpr (std::is_same_v<Number, ddl::Float16>) {
    return kernel_reference::float_of_half(number.bits);
  } else if constexpr (std::is_same_v<Number, ddl::BFloat16>) {
    return kernel_reference::float_of_brain(number.bits);
  } else {
    return static_cast<double>(number);
  }
}
// Of a quotient; sums and largest values are exact.
template <typename Number>
double rounding() {
  if (std::is_same_v<Number, ddl::BFloat16>) return 0x1p-7;
  if (std::is_same_v<Number, ddl::Float16>) return 0x1p-10;
  return 0x1p-22;
}

template <typename Number>
class Device {
 public:
  explicit Device(std::size_t count) : host_(count) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(Number) + 1), "cudaMalloc");
    data_ = static_cast<Number*>(memory);
  }
  ~Device() {
    if (data_ != nullptr) static_cast<void>(cudaFree(data_));
  }
  Device(Device&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), host_(std::move(other.host_)) {}
  Device& operator=(Device&&) = delete;

  Number* data() const { return data_; }
  std::size_t size() const { return host_.size(); }

  // By the stream, which first is busy for so many milliseconds.
  void fill(int rank, cudaStream_t stream, int milliseconds) {
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = make<Number>(value<Number>(i, rank));
    if (milliseconds > 0)
      check(cudaLaunchHostFunc(
                stream,
                [](void* length) {
                  std::this_thread::sleep_for(
                      std::chrono::milliseconds(reinterpret_cast<std::intptr_t>(length)));
                },
                reinterpret_cast<void*>(static_cast<std::intptr_t>(milliseconds))),
            "cudaLaunchHostFunc");
    check(cudaMemcpyAsync(data_, host_.data(), host_.size() * sizeof(Number), cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
  }

  template <typename Expected>
  bool equals(cudaStream_t stream, const Expected& expected) const {
    std::vector<Number> got(host_.size());
    check(cudaMemcpyAsync(got.data(), data_, got.size() * sizeof(Number), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double exact = expected(i);
      const double wanted = std::is_integral_v<Number> ? read(make<Number>(exact)) : exact;
      const double slack = wanted == std::floor(wanted) ? 0.0 : std::fabs(wanted) * rounding<Number>();
      if (std::fabs(read(got[i]) - wanted) > slack) {
        std::fprintf(stderr, "element %zu is %g, not %g\n", i, read(got[i]), wanted);
        return false;
      }
    }
    return true;
  }

 private:
  Number* data_ = nullptr;
  std::vector<Number> host_;
};

}  // namespace gpu_numbers
