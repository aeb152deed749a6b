// SPDX-License-Identifier: MIT
// The numbers that a call takes: a Tensor that it writes into, a ConstTensor that it only reads, and a Buffer
// in memory that the ranks of a host share.
#pragma once

#include "ddl/data_type.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace ddl {

enum class Memory : std::uint8_t { host, device };

// A vector of `count` elements of one type in the caller's memory, which it does not own. `name` appears in
// messages only.
struct Tensor {
  std::byte* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;
  std::string name;
  Memory memory = Memory::host;
  void* stream = nullptr;  // cudaStream_t of a device_tensor

  std::size_t bytes() const { return count * size_of(type); }
};

// The same, of which calls read the elements only.
struct ConstTensor {
  ConstTensor() = default;
  ConstTensor(const std::byte* elements, std::size_t number, DataType of, std::string called = "",
              Memory where = Memory::host, void* on = nullptr)
      : data(elements), count(number), type(of), name(std::move(called)), memory(where), stream(on) {}
  ConstTensor(const Tensor& tensor)
      : ConstTensor(tensor.data, tensor.count, tensor.type, tensor.name, tensor.memory, tensor.stream) {}

  const std::byte* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;
  std::string name;
  Memory memory = Memory::host;
  void* stream = nullptr;

  std::size_t bytes() const { return count * size_of(type); }
};

template <typename Values>
concept SpanOfNumbers = requires(Values&& values) {
  std::span(std::forward<Values>(values));
};

// A tensor in host memory: of one number, a float, shape [1]; of a std::vector, a std::array, an array, a
// std::span and what else std::span takes, shape [values.size()]. Local; never throws ddl::Error.
template <typename Values>
Tensor tensor(Values&& values, std::string name = "") {
  using Value = std::remove_reference_t<Values>;
  if constexpr (SpanOfNumbers<Values>) {
    const auto numbers = std::span(std::forward<Values>(values));
    using Number = typename decltype(numbers)::element_type;
    static_assert(!std::is_const_v<Number>,
                  "ddl::tensor() needs numbers that are not const: calls write into the memory of a Tensor; "
                  "ddl::input() takes those that a call only reads");
    if constexpr (!std::is_const_v<Number>)
      return {reinterpret_cast<std::byte*>(numbers.data()), numbers.size(), DataTypeOf<Number>::value,
              std::move(name)};
  } else if constexpr (!std::is_lvalue_reference_v<Values>) {
    static_assert(std::is_lvalue_reference_v<Values>,
                  "ddl::tensor() needs a variable: a temporary value is gone before the call writes into it");
  } else {
    static_assert(!std::is_const_v<Value>,
                  "ddl::tensor() needs a number that is not const: calls write into the memory of a Tensor");
    if constexpr (!std::is_const_v<Value>)
      return {reinterpret_cast<std::byte*>(&values), 1, DataTypeOf<Value>::value, std::move(name)};
  }
  return {};
}

// What a call reads only, const or not: as tensor(). The numbers must live until the call returns.
template <typename Values>
ConstTensor input(const Values& values, std::string name = "") {
  if constexpr (std::convertible_to<const Values&, ConstTensor>) {
    ConstTensor same = values;
    if (!name.empty()) same.name = std::move(name);
    return same;
  } else if constexpr (SpanOfNumbers<const Values&>) {
    const auto numbers = std::span(values);
    using Number = std::remove_const_t<typename decltype(numbers)::element_type>;
    return {reinterpret_cast<const std::byte*>(numbers.data()), numbers.size(), DataTypeOf<Number>::value,
            std::move(name)};
  } else {
    return {reinterpret_cast<const std::byte*>(&values), 1, DataTypeOf<Values>::value, std::move(name)};
  }
}

// What a call takes in place of a Tensor: whatever tensor() takes.
template <typename Values>
concept Numbers = !std::convertible_to<Values, const Tensor&>;
// The arguments of a call with an input and an output of which one at least is no tensor yet.
template <typename In, typename Out>
concept InputAndOutput = !std::convertible_to<In, const ConstTensor&> || Numbers<Out>;

// The output of a call: a Tensor as it is, other numbers as tensor() takes them.
template <typename Values>
Tensor output(Values&& values) {
  if constexpr (Numbers<Values>)
    return tensor(std::forward<Values>(values));
  else
    return values;
}

// A tensor in GPU memory (cudaMalloc), shape [count], on this rank's GPU: the GPU that mode n selected, else
// the GPU of the first such tensor. Local. With `stream`, a cudaStream_t: the call starts after the work that
// the stream holds, and later work of the stream starts after the call. The call and Handle::wait() return
// once that order is set up; an error of the sum is thrown by the next call. Without a stream the call waits
// for the default stream and returns after the GPU has finished. Of const numbers it is a ConstTensor.
// __half and __nv_bfloat16 have the layout of Float16 and BFloat16 (CUDA 12, cuda_fp16.h, cuda_bf16.h):
// reinterpret_cast.
template <typename Number>
auto device_tensor(Number* values, std::size_t count, std::string name = "", void* stream = nullptr) {
  constexpr DataType type = DataTypeOf<std::remove_const_t<Number>>::value;
  if constexpr (std::is_const_v<Number>)
    return ConstTensor(reinterpret_cast<const std::byte*>(values), count, type, std::move(name),
                       Memory::device, stream);
  else
    return Tensor{reinterpret_cast<std::byte*>(values), count, type, std::move(name), Memory::device, stream};
}

// Memory that all ranks of the host share: its sums need no copies. Destroy it before its Context, on all
// ranks of the host in the same order; the destructor waits for them.
template <typename Number>
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<void> owner, std::span<Number> values) : owner_(std::move(owner)), values_(values) {}

  std::span<Number> values() const { return values_; }
  Number* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  Number& operator[](std::size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  // Elements [first, first + count) of the buffer; they must lie in it.
  Tensor range(std::size_t first, std::size_t count, std::string name = "") const {
    return tensor(values_.subspan(first, count), std::move(name));
  }
  operator Tensor() const { return tensor(values_); }

 private:
  std::shared_ptr<void> owner_;
  std::span<Number> values_;
};

}  // namespace ddl
