// SPDX-License-Identifier: MIT
// Copies many small tensors of one type side by side, so that one sum carries all of them.
#pragma once

#include "ddl/ddl.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace ddl {

class TensorPacker {
 public:
  // One tensor with the elements of all, valid until the next call. `tensors`: at least one, of one type.
  Tensor pack(std::span<const Tensor> tensors);
  // The elements of the last pack() back into the tensors it was made of.
  void unpack(std::span<const Tensor> tensors) const;

  // Splits `tensors` into groups that are packed together: of one type, each tensor of at most 64 KiB, a
  // group of about 4 MiB. Larger tensors are groups of one, first, in their order.
  static bool is_small(const Tensor& tensor);
  static std::vector<std::vector<Tensor>> group(std::span<const Tensor> tensors);

 private:
  std::vector<std::byte> packed_;
};

}  // namespace ddl
