// SPDX-License-Identifier: MIT
#include "ddl/wire_freight.hpp"

#include <algorithm>

namespace ddl {
namespace {

constexpr std::size_t widened_at_once =
    1024;  // elements: the contributions of some hosts fit the inner cache

std::span<float> floats_at(std::byte* data, std::size_t count) {
  return {reinterpret_cast<float*>(data), count};
}

}  // namespace

DataType travelling_type(DataType type, const WireOptions& options) {
  return type == DataType::float32 && options.narrow ? *options.narrow : type;
}

Freight::Freight(const Reduction& reduction, DataType travelling, std::byte* data, Range whole,
                 std::byte* image)
    : reduction_(reduction), travelling_(travelling), data_(data), whole_(whole), image_(image) {}

std::span<std::byte> Freight::bytes_of(Range range) const {
  if (!narrows()) return {data_at(range.first), bytes_for(range.count)};
  return {image_ + bytes_for(range.first - whole_.first), bytes_for(range.count)};
}

void Freight::pack(Range range) const {
  if (narrows() && range.count > 0)
    narrow(travelling_, floats_at(data_at(range.first), range.count), bytes_of(range).data());
}

void Freight::unpack(Range range) const {
  if (narrows() && range.count > 0)
    widen(travelling_, bytes_of(range).data(), floats_at(data_at(range.first), range.count));
}

void Freight::add(Range range, std::span<const std::byte* const> contributions, bool last) const {
  if (range.count == 0) return;
  Reduction reduction = reduction_;
  if (!last) reduction.scale = 1.0;
  if (!last && reduction.operation == Operation::average) reduction.operation = Operation::sum;
  if (narrows()) return add_narrow(range, contributions, reduction);
  std::byte* const mine = data_at(range.first);
  std::vector<const std::byte*> sources(contributions.begin(), contributions.end());
  std::replace(sources.begin(), sources.end(), static_cast<const std::byte*>(nullptr),
               static_cast<const std::byte*>(mine));
  reduce(reduction, sources, {&mine, 1}, range.count);
}

void Freight::add_narrow(Range range, std::span<const std::byte* const> contributions,
                         const Reduction& reduction) const {
  std::vector<float> wide(contributions.size() * widened_at_once);
  std::vector<const std::byte*> sources(contributions.size());
  for (std::size_t done = 0; done < range.count; done += widened_at_once) {
    const std::size_t count = std::min(widened_at_once, range.count - done);
    std::byte* const mine = data_at(range.first + done);
    for (std::size_t i = 0; i < contributions.size(); ++i) {
      float* const row = wide.data() + i * widened_at_once;
      if (contributions[i] != nullptr) widen(travelling_, contributions[i] + bytes_for(done), {row, count});
      sources[i] = contributions[i] != nullptr ? reinterpret_cast<const std::byte*>(row) : mine;
    }
    reduce(reduction, sources, {&mine, 1}, count);
  }
}

}  // namespace ddl
