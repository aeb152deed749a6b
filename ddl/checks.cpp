// SPDX-License-Identifier: MIT
#include "ddl/checks.hpp"

#include "ddl/error.hpp"

#include <fmt/format.h>

namespace ddl {

void check_type(const Tensor& tensor) {
  if (tensor.type > DataType::int32)
    throw Error(Fault::usage, fmt::format("there is no type {}", static_cast<int>(tensor.type)), tensor.name,
                "ddl::tensor(std::span(values)), which knows it");
}

void check_tensor(const Tensor& tensor) {
  check_type(tensor);
  if (tensor.count > most_bytes || tensor.bytes() > most_bytes)
    throw Error(Fault::usage,
                fmt::format("{} {} are more than any memory holds", tensor.count, name_of(tensor.type)),
                tensor.name, "the number of elements; a difference below 0 looks like this");
  if (tensor.data == nullptr && tensor.count != 0)
    throw Error(Fault::usage, fmt::format("{} {} at no address", tensor.count, name_of(tensor.type)),
                tensor.name, "ddl::tensor(std::span(values), \"its name\")");
}

void check_operation(const Tensor& tensor, Operation operation) {
  if (operation > Operation::max)
    throw Error(Fault::usage, fmt::format("there is no operation {}", static_cast<int>(operation)),
                tensor.name, "Operation::sum");
  if (operation == Operation::average && tensor.type == DataType::int32)
    throw Error(Fault::usage, "there is no average of int32", tensor.name, "Operation::sum, or float32");
}

void check_root(const Tensor& tensor, int root, int ranks) {
  if (root < 0 || root >= ranks)
    throw Error(Fault::usage,
                fmt::format("there is no rank {} to broadcast from, there are {} ranks", root, ranks),
                tensor.name, "broadcast(tensor, 0)");
}

void check_timeout(const Options& options) {
  if (options.timeout_seconds > 0 && options.timeout_seconds <= longest_timeout) return;
  throw Error(Fault::usage, fmt::format("timeout_seconds is {:g}", options.timeout_seconds), "Options",
              fmt::format("more than 0, up to {}", longest_timeout));
}

}  // namespace ddl
