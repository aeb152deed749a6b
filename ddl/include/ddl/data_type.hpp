// SPDX-License-Identifier: MIT
// What libddl adds up: seven number types and five operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace ddl {

enum class DataType : std::uint8_t { float32, float64, float16, bfloat16, int32, int64, uint8 };

// average is the sum divided by the number of ranks; there is none for int32, int64 and uint8, whose sums and
// products wrap around. max and min are NaN where a rank has NaN (on GPUs NCCL decides).
enum class Operation : std::uint8_t { sum, average, max, min, product };

inline constexpr std::size_t data_types = 7;
inline constexpr std::size_t operations = 5;

// IEEE binary16 and the upper half of binary32, as bits.
struct Float16 {
  std::uint16_t bits = 0;
  bool operator==(const Float16&) const = default;
};
struct BFloat16 {
  std::uint16_t bits = 0;
  bool operator==(const BFloat16&) const = default;
};

// The most bytes of a tensor, which no machine has: a call of more throws usage. Counts below it do not
// overflow.
inline constexpr std::size_t max_bytes = std::size_t{1} << 50;

constexpr std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::float64:
    case DataType::int64:
      return 8;
    case DataType::float16:
    case DataType::bfloat16:
      return 2;
    case DataType::uint8:
      return 1;
    case DataType::float32:
    case DataType::int32:
      break;
  }
  return 4;
}

// Whole numbers: they have no average.
constexpr bool is_integer(DataType type) { return type >= DataType::int32; }

constexpr std::string_view name_of(DataType type) {
  constexpr std::string_view names[] = {"float32", "float64", "float16", "bfloat16",
                                        "int32",   "int64",   "uint8"};
  static_assert(std::size(names) == data_types);
  return names[static_cast<std::size_t>(type)];
}

constexpr std::string_view name_of(Operation operation) {
  constexpr std::string_view names[] = {"sum", "average", "max", "min", "product"};
  static_assert(std::size(names) == operations);
  return names[static_cast<std::size_t>(operation)];
}

template <DataType type>
using Tag = std::integral_constant<DataType, type>;
template <typename Number>
struct DataTypeOf {
  static_assert(sizeof(Number) == 0,
                "libddl sums float, double, ddl::Float16, ddl::BFloat16, std::int32_t, std::int64_t and "
                "std::uint8_t");
};
template <>
struct DataTypeOf<float> : Tag<DataType::float32> {};
template <>
struct DataTypeOf<double> : Tag<DataType::float64> {};
template <>
struct DataTypeOf<Float16> : Tag<DataType::float16> {};
template <>
struct DataTypeOf<BFloat16> : Tag<DataType::bfloat16> {};
template <>
struct DataTypeOf<int> : Tag<DataType::int32> {};
// std::int64_t is one of these two.
template <>
struct DataTypeOf<long> : Tag<sizeof(long) == 8 ? DataType::int64 : DataType::int32> {};
template <>
struct DataTypeOf<long long> : Tag<DataType::int64> {};
template <>
struct DataTypeOf<std::uint8_t> : Tag<DataType::uint8> {};

}  // namespace ddl
