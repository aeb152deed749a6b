// SPDX-License-Identifier: MIT
#include "ddl/collectives/wire_codec.hpp"

#include <algorithm>

namespace ddl {
namespace {

constexpr std::size_t widened_at_once =
    1024;  // elements: the contributions of some hosts fit the inner cache

std::span<float> floats_at(std::byte* data, std::size_t count) {
  return {reinterpret_cast<float*>(data), count};
}

}  // namespace

DataType wire_dtype_of(DataType type, const InterNodeOptions& options) {
  return type == DataType::float32 && options.wire_dtype ? *options.wire_dtype : type;
}

Codec::Codec(const Reduction& reduction, DataType wire_dtype, std::byte* data, Range whole,
             std::byte* wire_buffer)
    : reduction_(reduction), wire_dtype_(wire_dtype), data_(data), whole_(whole), wire_buffer_(wire_buffer) {}

std::span<std::byte> Codec::bytes_of(Range range) const {
  if (!compresses()) return {data_at(range.first), bytes_for(range.count)};
  return {wire_buffer_ + bytes_for(range.first - whole_.first), bytes_for(range.count)};
}

void Codec::compress(Range range) const {
  if (compresses() && range.count > 0)
    narrow(wire_dtype_, floats_at(data_at(range.first), range.count), bytes_of(range).data());
}

void Codec::decompress(Range range) const {
  if (compresses() && range.count > 0)
    widen(wire_dtype_, bytes_of(range).data(), floats_at(data_at(range.first), range.count));
}

void Codec::add(Range range, std::span<const std::byte* const> contributions, bool last) const {
  if (range.count == 0) return;
  Reduction reduction = reduction_;
  if (!last) reduction.scale = 1.0;
  if (!last && reduction.operation == Operation::average) reduction.operation = Operation::sum;
  if (compresses()) return add_compressed(range, contributions, reduction);
  std::byte* const mine = data_at(range.first);
  std::vector<const std::byte*> sources(contributions.begin(), contributions.end());
  std::replace(sources.begin(), sources.end(), static_cast<const std::byte*>(nullptr),
               static_cast<const std::byte*>(mine));
  reduce(reduction, sources, {&mine, 1}, range.count);
}

void Codec::add_compressed(Range range, std::span<const std::byte* const> contributions,
                           const Reduction& reduction) const {
  std::vector<float> wide(contributions.size() * widened_at_once);
  std::vector<const std::byte*> sources(contributions.size());
  for (std::size_t done = 0; done < range.count; done += widened_at_once) {
    const std::size_t count = std::min(widened_at_once, range.count - done);
    std::byte* const mine = data_at(range.first + done);
    for (std::size_t i = 0; i < contributions.size(); ++i) {
      float* const row = wide.data() + i * widened_at_once;
      if (contributions[i] != nullptr) widen(wire_dtype_, contributions[i] + bytes_for(done), {row, count});
      sources[i] = contributions[i] != nullptr ? reinterpret_cast<const std::byte*>(row) : mine;
    }
    reduce(reduction, sources, {&mine, 1}, count);
  }
}

}  // namespace ddl
