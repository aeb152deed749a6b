// SPDX-License-Identifier: MIT
#include "ddl/collectives/tensor_packer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddl {
namespace {

constexpr std::size_t max_packed_tensor_bytes = 64 << 10;
constexpr std::size_t max_pack_bytes = 4 << 20;

}  // namespace

bool TensorPacker::is_small(const Tensor& tensor) { return tensor.bytes() <= max_packed_tensor_bytes; }

std::vector<std::vector<Tensor>> TensorPacker::group(std::span<const Tensor> tensors) {
  std::vector<std::vector<Tensor>> groups;
  std::vector<std::vector<Tensor>> small(data_types);
  for (const Tensor& tensor : tensors) {
    if (!is_small(tensor)) {
      groups.push_back({tensor});
    } else {
      small[static_cast<std::size_t>(tensor.type)].push_back(tensor);
    }
  }
  for (const auto& of_type : small) {
    std::size_t bytes = max_pack_bytes;
    for (const Tensor& tensor : of_type) {
      if (bytes >= max_pack_bytes) {
        groups.emplace_back();
        bytes = 0;
      }
      groups.back().push_back(tensor);
      bytes += tensor.bytes();
    }
  }
  return groups;
}

Tensor TensorPacker::pack(std::span<const Tensor> tensors) {
  Tensor all;
  all.type = tensors[0].type;
  all.name = fmt::format("{} tensors from {}", tensors.size(), tensors[0].name);
  for (const Tensor& each : tensors) all.count += each.count;
  packed_.resize(all.bytes());
  all.data = packed_.data();
  std::byte* place = packed_.data();
  for (const Tensor& each : tensors) place = std::copy_n(each.data, each.bytes(), place);
  return all;
}

void TensorPacker::unpack(std::span<const Tensor> tensors) const {
  const std::byte* place = packed_.data();
  for (const Tensor& each : tensors) {
    std::copy_n(place, each.bytes(), each.data);
    place += each.bytes();
  }
}

}  // namespace ddl
