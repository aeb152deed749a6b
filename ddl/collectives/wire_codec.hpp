// SPDX-License-Identifier: MIT
// What travels on a wire: ranges of one vector, as they are or narrowed, and their addition on arrival.
#pragma once

#include "ddl/collectives/inter_node_collectives.hpp"
#include "ddl/core/kernels.hpp"

#include <span>
#include <vector>

namespace ddl {

struct Range {
  std::size_t first = 0;
  std::size_t count = 0;
};

// The index-th of `pieces` parts of `whole`, which differ by one element at most.
constexpr Range piece_of(Range whole, int pieces, int index) {
  const std::size_t n = static_cast<std::size_t>(pieces);
  const std::size_t i = static_cast<std::size_t>(index);
  const std::size_t each = whole.count / n;
  const std::size_t longer = whole.count % n;
  return {whole.first + i * each + (i < longer ? i : longer), each + (i < longer ? 1 : 0)};
}

// The type in which numbers of `type` travel.
DataType wire_dtype_of(DataType type, const InterNodeOptions& options);

// A range `whole` of the vector `data`. Where it is narrowed it travels from and to `image`, which has room
// for the whole range in the narrow type; else from and to where it lies.
class Codec {
 public:
  Codec() = default;
  Codec(const Reduction& reduction, DataType wire_dtype, std::byte* data, Range whole,
        std::byte* wire_buffer);

  std::span<std::byte> bytes_of(Range range) const;  // where the range travels from and arrives
  std::size_t bytes_for(std::size_t count) const { return count * size_of(wire_dtype_); }

  void compress(Range range) const;    // data -> image
  void decompress(Range range) const;  // image -> data
  // Adds contributions as they arrived, in this order, into the range of data; a null one stands for what is
  // there. `last`: now the sum is scaled.
  void add(Range range, std::span<const std::byte* const> contributions, bool last) const;

 private:
  bool compresses() const { return wire_dtype_ != reduction_.type; }
  std::byte* data_at(std::size_t element) const { return data_ + element * size_of(reduction_.type); }
  void add_compressed(Range range, std::span<const std::byte* const> contributions,
                      const Reduction& reduction) const;

  Reduction reduction_;
  DataType wire_dtype_ = DataType::float32;
  std::byte* data_ = nullptr;
  Range whole_;
  std::byte* wire_buffer_ = nullptr;
};

}  // namespace ddl
