// SPDX-License-Identifier: MIT
#include "ddl/core/checks.hpp"

#include "ddl/error.hpp"

#include <fmt/format.h>

namespace ddl {

void check_type(const Tensor& tensor) {
  if (static_cast<std::size_t>(tensor.type) >= data_types)
    throw Error(Fault::usage, fmt::format("unknown type {}", static_cast<int>(tensor.type)), tensor.name,
                "float32, float64, float16, bfloat16, int32, int64 or uint8: ddl::tensor(std::span(values)) "
                "knows it");
}

void check_tensor(const Tensor& tensor) {
  check_type(tensor);
  if (tensor.count > max_bytes || tensor.bytes() > max_bytes)
    throw Error(Fault::usage, fmt::format("{} {} exceed any memory", tensor.count, name_of(tensor.type)),
                tensor.name, "the number of elements; a difference below 0 looks like this");
  if (tensor.data == nullptr && tensor.count != 0)
    throw Error(Fault::usage, fmt::format("{} {} at a null address", tensor.count, name_of(tensor.type)),
                tensor.name, "ddl::tensor(std::span(values), \"its name\")");
}

void check_operation(const Tensor& tensor, Operation operation) {
  if (static_cast<std::size_t>(operation) >= operations)
    throw Error(Fault::usage, fmt::format("unknown operation {}", static_cast<int>(operation)), tensor.name,
                "Operation::sum");
  if (operation == Operation::average && is_integer(tensor.type))
    throw Error(Fault::usage, fmt::format("{} cannot be averaged", name_of(tensor.type)), tensor.name,
                "Operation::sum, or float32");
}

void check_root(const Tensor& tensor, int root, int ranks, std::string_view call) {
  if (root < 0 || root >= ranks)
    throw Error(Fault::usage, fmt::format("invalid root {}: must be 0 to {}", root, ranks - 1), tensor.name,
                fmt::format("{}, 0)", call));
}

namespace {

bool is_size_times(const Tensor& large, const Tensor& small, int ranks) {
  const auto size = static_cast<std::size_t>(ranks);
  return large.type == small.type && large.count % size == 0 && large.count / size == small.count;
}

void check_large_input(std::string_view call, const Tensor& in, const Tensor& out, int ranks) {
  if (is_size_times(in, out, ranks)) return;
  throw Error(Fault::usage,
              fmt::format("{} from {} {} into {} {}: {} ranks need an input of {} for an output of {}", call,
                          in.count, name_of(in.type), out.count, name_of(out.type), ranks,
                          out.count * static_cast<std::size_t>(ranks), out.count),
              in.name, "an input of the output's type with size() times its elements");
}

void check_large_output(std::string_view call, const Tensor& in, const Tensor& out, int ranks) {
  if (is_size_times(out, in, ranks)) return;
  throw Error(
      Fault::usage,
      fmt::format("{} from {} {} into {} {}: {} ranks need an output of {}", call, in.count, name_of(in.type),
                  out.count, name_of(out.type), ranks, in.count * static_cast<std::size_t>(ranks)),
      in.name, "an output of the input's type with size() times its elements");
}

}  // namespace

void check_reduce_scatter(const Tensor& in, const Tensor& out, int ranks) {
  check_large_input("reduce_scatter", in, out, ranks);
}
void check_all_gather(const Tensor& in, const Tensor& out, int ranks) {
  check_large_output("all_gather", in, out, ranks);
}
void check_scatter(const Tensor& in, const Tensor& out, int ranks) {
  check_tensor(in);
  check_large_input("scatter", in, out, ranks);
}
void check_gather(const Tensor& in, const Tensor& out, int ranks) {
  check_tensor(out);
  check_large_output("gather", in, out, ranks);
}

void check_timeout(const Options& options) {
  if (options.timeout_seconds > 0 && options.timeout_seconds <= max_timeout) return;
  throw Error(Fault::usage, fmt::format("invalid timeout_seconds {:g}", options.timeout_seconds), "Options",
              fmt::format("more than 0, up to {}", max_timeout));
}

}  // namespace ddl
