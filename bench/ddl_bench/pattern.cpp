// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/pattern.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ddlrun::ddl_bench {
namespace {

constexpr unsigned longest_period = 16;
// Whole numbers up to here are exact in bfloat16, which may be the type or what travels between hosts.
constexpr unsigned exact_up_to = 256;

std::size_t hash_element(std::size_t element) { return (element * 0x9E3779B97F4A7C15U) >> 40U; }

std::uint16_t half_of(float value) {
  if (value == 0.0F) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(value);  // small whole numbers: normal in both types
  return static_cast<std::uint16_t>((((bits >> 23U) - 112U) << 10U) | ((bits >> 13U) & 0x3FFU));
}
double from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 31U;
  const double fraction = bits & 0x3FFU;
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return std::nan("");
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024.0, exponent - 25));
}

template <typename Number>
Number number_at(const std::byte* from) {
  Number number;
  std::memcpy(&number, from, sizeof(number));
  return number;
}
template <typename Number>
void put_number(std::byte* to, Number number) {
  std::memcpy(to, &number, sizeof(number));
}

double read_element(const std::byte* from, ddl::DataType type) {
  switch (type) {
    case ddl::DataType::float64:
      return number_at<double>(from);
    case ddl::DataType::float16:
      return from_half(number_at<std::uint16_t>(from));
    case ddl::DataType::bfloat16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(number_at<std::uint16_t>(from)) << 16U);
    case ddl::DataType::int32:
      return number_at<std::int32_t>(from);
    case ddl::DataType::int64:
      return static_cast<double>(number_at<std::int64_t>(from));
    case ddl::DataType::uint8:
      return number_at<std::uint8_t>(from);
    case ddl::DataType::float32:
      break;
  }
  return number_at<float>(from);
}

void write_element(std::byte* to, ddl::DataType type, double value) {
  const auto single = static_cast<float>(value);
  switch (type) {
    case ddl::DataType::float64:
      return put_number(to, value);
    case ddl::DataType::float16:
      return put_number(to, half_of(single));
    case ddl::DataType::bfloat16:
      return put_number(to, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(single) >> 16U));
    case ddl::DataType::int32:
      return put_number(to, static_cast<std::int32_t>(value));
    case ddl::DataType::int64:
      return put_number(to, static_cast<std::int64_t>(value));
    case ddl::DataType::uint8:
      return put_number(to, static_cast<std::uint8_t>(value));
    case ddl::DataType::float32:
      break;
  }
  put_number(to, single);
}

unsigned period_for(unsigned ranks) {
  unsigned period = longest_period;
  while (period > 2 && (period - 1) * ranks > exact_up_to) period /= 2;
  return period;
}

}  // namespace

Pattern::Pattern(ddl::DataType type, int ranks)
    : type_(type),
      ranks_(static_cast<unsigned>(ranks)),
      period_(period_for(ranks_)),
      tolerance_(ranks_ > exact_up_to && !ddl::is_integer(type) ? 1.0 / 64.0 : 0.0) {}

double Pattern::value(std::size_t element, int rank) const {
  return static_cast<double>((hash_element(element) + static_cast<std::size_t>(rank)) % period_);
}

// Whole rounds through 0..p-1 add p(p-1)/2 each; what is left begins at h(i).
double Pattern::sum(std::size_t element) const {
  const unsigned rounds = ranks_ / period_;
  double total = 0.5 * rounds * period_ * (period_ - 1);
  const std::size_t first = hash_element(element);
  for (unsigned rank = 0; rank < ranks_ % period_; ++rank)
    total += static_cast<double>((first + rank) % period_);
  return total;
}

void Pattern::fill(std::span<std::byte> data, int rank) const {
  const std::size_t unit = ddl::size_of(type_);
  for (std::size_t i = 0; i < data.size() / unit; ++i)
    write_element(data.data() + i * unit, type_, value(i, rank));
}

std::size_t Pattern::count_wrong(std::span<const std::byte> data) const {
  std::array<double, longest_period> sums{};  // by h(i) mod p
  std::array<bool, longest_period> known{};
  const std::size_t unit = ddl::size_of(type_);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < data.size() / unit; ++i) {
    const std::size_t at = hash_element(i) % period_;
    if (!known[at]) {
      sums[at] = type_ == ddl::DataType::uint8 ? std::fmod(sum(i), 256.0) : sum(i);
      known[at] = true;
    }
    const double off = std::abs(read_element(data.data() + i * unit, type_) - sums[at]);
    if (!(off <= tolerance_ * sums[at])) ++wrong;  // a NaN is wrong too
  }
  return wrong;
}

}  // namespace ddlrun::ddl_bench
