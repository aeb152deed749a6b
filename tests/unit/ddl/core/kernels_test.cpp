// SPDX-License-Identifier: MIT
// The sums against a plain reference: float32 in long double and rounded each time, integers in 128 bits,
// float16 by the compiler's own type, bfloat16 by integers. Same bits from every instruction set; of a NaN
// only that it is one.
#include "ddl/core/kernels.hpp"

#include "ddl/core/kernel_choice.hpp"
#include "tests/support/kernel_reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("ddl/core/kernels");

using ddl::DataType;
using ddl::Operation;

using namespace kernel_reference;

namespace {

constexpr DataType all_types[] = {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16,
                                  DataType::int32,   DataType::int64,   DataType::uint8};

std::vector<const ddl::KernelTable*> kernels_here() {
  std::vector<const ddl::KernelTable*> found;
  for (const char* name : {"scalar", "avx2", "avx512"})
    if (const auto* kernels = ddl::find_kernels(name)) found.push_back(kernels);
  return found;
}

struct Case {
  DataType type;
  Operation operation;
  double scale;
  std::size_t count;
  std::size_t sources;
  std::size_t skew;  // bytes that vectors start after a line: vector v at v * skew; from 64 on, all at skew
  enum { one, in_place, both, five } destinations;
};

// A vector that starts `skew` bytes after a line, with bytes around it that must stay as they are.
class Vector {
 public:
  Vector(std::size_t bytes, std::size_t skew) : room_(bytes + 256, std::byte{0xA5}), bytes_(bytes) {
    start_ = 128 - reinterpret_cast<std::uintptr_t>(room_.data()) % 64 + skew % 64;
  }
  std::byte* data() { return room_.data() + start_; }
  bool surroundings_hold() const {
    const auto marked = [](std::byte value) { return value == std::byte{0xA5}; };
    return std::all_of(room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(start_), marked) &&
           std::all_of(room_.begin() + static_cast<std::ptrdiff_t>(start_ + bytes_), room_.end(), marked);
  }

 private:
  std::vector<std::byte> room_;
  std::size_t bytes_;
  std::size_t start_ = 0;
};

// Mostly numbers about 1, among them every kind of strange one.
template <class Number>
typename Number::Stored any_number(std::minstd_rand& random) {
  using Stored = typename Number::Stored;
  if constexpr (std::is_integral_v<typename Number::Math>) {
    return static_cast<Stored>(random() * 2654435761U * 0x9E3779B97F4A7C15U);
  } else {
    const double about_one = std::ldexp(static_cast<double>(random()) - 1e9, -30);
    if (random() % 32 != 0) return Number::write(static_cast<typename Number::Math>(about_one));
    if constexpr (sizeof(Stored) == 2) return static_cast<Stored>(random() >> 7);  // any bits at all
    using Limits = std::numeric_limits<typename Number::Math>;
    const typename Number::Math strange[] = {Limits::infinity(),
                                             -Limits::infinity(),
                                             Limits::quiet_NaN(),
                                             Limits::denorm_min(),
                                             Limits::max(),
                                             -Limits::max(),
                                             Limits::min() / 3,
                                             -0.0,
                                             -0.0,
                                             -Limits::min()};
    return Number::write(strange[random() % std::size(strange)]);
  }
}

template <class Number>
std::vector<typename Number::Stored> expected_of(
    const Case& what, const std::vector<std::vector<typename Number::Stored>>& sources) {
  std::vector<typename Number::Stored> results(what.count);
  for (std::size_t i = 0; i < what.count; ++i) {
    typename Number::Math result = Number::read(sources[0][i]);
    for (std::size_t s = 1; s < sources.size(); ++s) {
      const typename Number::Math next = Number::read(sources[s][i]);
      const bool is_first = what.operation == Operation::max ? next > result : next < result;
      if (what.operation == Operation::product)
        result = Number::times(result, next);
      else if (what.operation == Operation::sum || what.operation == Operation::average)
        result = Number::add(result, next);
      else if (result == result && (next != next || is_first))
        result = next;
    }
    const bool scaled = what.operation == Operation::average;
    results[i] = Number::write(scaled ? Number::scale(result, what.scale) : result);
  }
  return results;
}

template <class Number>
std::string difference(const std::vector<typename Number::Stored>& expected, const std::byte* found) {
  if (expected.empty() || std::memcmp(expected.data(), found, expected.size() * sizeof expected[0]) == 0)
    return "";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    typename Number::Stored value;
    std::memcpy(&value, found + i * sizeof value, sizeof value);
    if (std::memcmp(&value, &expected[i], sizeof value) == 0) continue;
    if (Number::is_nan(value) && Number::is_nan(expected[i])) continue;
    return "number " + std::to_string(i) + " is " + std::to_string(Number::read(value)) + ", not " +
           std::to_string(Number::read(expected[i]));
  }
  return "";
}

// "" or what is wrong with the result of these kernels.
template <class Number>
std::string wrong_in(const ddl::KernelTable& kernels, const Case& what,
                     const std::vector<std::vector<typename Number::Stored>>& values,
                     const std::vector<typename Number::Stored>& expected) {
  const std::size_t bytes = what.count * sizeof(typename Number::Stored);
  const bool into_sources = what.destinations == Case::in_place || what.destinations == Case::both;
  const std::size_t own = what.destinations == Case::five ? 5 : what.destinations == Case::in_place ? 0 : 1;
  std::vector<Vector> vectors;
  for (std::size_t v = 0; v < what.sources + own; ++v)
    vectors.emplace_back(bytes, what.skew < 64 ? v * what.skew : what.skew);
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> destinations;
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    if (v < what.sources) {
      if (bytes > 0) std::memcpy(vectors[v].data(), values[v].data(), bytes);
      sources.push_back(vectors[v].data());
    }
    if (v >= what.sources || into_sources) destinations.push_back(vectors[v].data());
  }
  ddl::reduce_with(kernels, {what.type, what.operation, what.scale}, sources, destinations, what.count);
  for (Vector& vector : vectors)
    if (!vector.surroundings_hold()) return "bytes around a vector have changed";
  for (std::size_t v = 0; v < what.sources && !into_sources; ++v)
    if (bytes > 0 && std::memcmp(vectors[v].data(), values[v].data(), bytes) != 0)
      return "a source has changed";
  for (const std::byte* destination : destinations) {
    const std::string found = difference<Number>(expected, destination);
    if (!found.empty()) return found;
  }
  return "";
}

template <class Number>
std::string check_as(const Case& what) {
  static const auto pool = [] {
    std::minstd_rand random(1);
    std::vector<typename Number::Stored> numbers(65521);
    for (auto& number : numbers) number = any_number<Number>(random);
    return numbers;
  }();
  std::minstd_rand random(static_cast<unsigned>(what.count * 31 + what.sources * 7 + 1));
  std::vector<std::vector<typename Number::Stored>> values(what.sources);
  for (auto& vector : values)
    for (std::size_t at = random() % pool.size(); vector.size() < what.count; at = (at + 1) % pool.size())
      vector.push_back(pool[at]);
  const auto expected = expected_of<Number>(what, values);
  for (const ddl::KernelTable* kernels : kernels_here()) {
    const std::string wrong = wrong_in<Number>(*kernels, what, values, expected);
    if (!wrong.empty())
      return std::string(kernels->name) + " " + std::string(ddl::name_of(what.type)) + " " +
             std::string(ddl::name_of(what.operation)) + " of " + std::to_string(what.sources) + " x " +
             std::to_string(what.count) + ", skew " + std::to_string(what.skew) + ", form " +
             std::to_string(what.destinations) + ": " + wrong;
  }
  return "";
}

std::string check(const Case& what) {
  switch (what.type) {
    case DataType::float64:
      return check_as<Wide>(what);
    case DataType::float16:
      return check_as<HalfNumber>(what);
    case DataType::bfloat16:
      return check_as<BrainNumber>(what);
    case DataType::int32:
      return check_as<Whole<std::int32_t>>(what);
    case DataType::int64:
      return check_as<Whole<std::int64_t>>(what);
    case DataType::uint8:
      return check_as<Whole<std::uint8_t>>(what);
    case DataType::float32:
      break;
  }
  return check_as<Plain>(what);
}

Case case_of(DataType type, std::size_t operation, std::size_t count, std::size_t sources,
             std::size_t variant) {
  constexpr std::size_t skews[] = {0, 8, 1, 4, 33, 0, 2};
  const auto chosen = static_cast<Operation>(operation % ddl::operations);
  const double scale = chosen == Operation::average ? 1.0 / static_cast<double>(sources) : 1.0;
  const auto form = static_cast<decltype(Case::destinations)>(variant % 3);
  return {type, chosen, scale, count, sources, skews[variant % std::size(skews)], form};
}

}  // namespace

TEST_CASE("few numbers: every type, operation and count of sources") {
  for (const DataType type : all_types)
    for (std::size_t operation = 0; operation < ddl::operations; ++operation)
      for (std::size_t sources = 1; sources <= 9; ++sources)
        for (std::size_t count = 0; count <= 150; ++count)
          CHECK_EQ(check(case_of(type, operation, count, sources, count + sources)), "");
}

TEST_CASE("every size up to 4099, with sources, operations and places in turn") {
  for (const DataType type : all_types)
    for (std::size_t count = 151; count <= 4099; ++count)
      CHECK_EQ(check(case_of(type, count / 2, count, 1 + count % 9, count / 3)), "");
}

TEST_CASE("a million numbers and one more or less, also past the caches into five vectors") {
  for (const DataType type : all_types)
    for (const std::size_t count : {(1U << 20) - 1, 1U << 20, (1U << 20) + 1}) {
      CHECK_EQ(check(case_of(type, count, count, 3, count % 3)), "");
      Case streamed = case_of(type, count + 1, count, 2, 0);
      streamed.destinations = Case::five;
      CHECK_EQ(check(streamed), "");
      streamed.skew = count % 2 == 0 ? 3 : 67;
      CHECK_EQ(check(streamed), "");
    }
}

TEST_CASE("many sources and numbers whose sum is known") {
  for (const ddl::KernelTable* kernels : kernels_here())
    for (const std::size_t ranks : {10U, 64U, 1024U}) {
      CAPTURE(kernels->name);
      CAPTURE(ranks);
      constexpr std::size_t count = 300;
      std::vector<std::vector<double>> values(ranks, std::vector<double>(count));
      std::vector<const std::byte*> sources;
      std::vector<std::byte*> destinations;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (std::size_t i = 0; i < count; ++i) values[rank][i] = static_cast<double>((rank + 1) * (i + 1));
        sources.push_back(reinterpret_cast<const std::byte*>(values[rank].data()));
        destinations.push_back(reinterpret_cast<std::byte*>(values[rank].data()));
      }
      ddl::reduce_with(*kernels, {DataType::float64, Operation::sum, 0.5}, sources, destinations, count);
      for (std::size_t rank = 0; rank < ranks; rank += ranks - 1)
        for (std::size_t i = 0; i < count; ++i)
          REQUIRE_EQ(values[rank][i], static_cast<double>(ranks * (ranks + 1) / 2 * (i + 1)) / 2);
    }
}

TEST_CASE("all 16-bit numbers become float32 and come back") {
  std::vector<std::uint16_t> all(65536), back(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<float> wide(all.size());
  for (const ddl::KernelTable* kernels : kernels_here())
    for (const std::size_t brain : {0U, 1U}) {
      CAPTURE(kernels->name);
      CAPTURE(brain);
      kernels->widen[brain](reinterpret_cast<const std::byte*>(all.data()), wide.data(), all.size());
      kernels->narrow[brain](wide.data(), reinterpret_cast<std::byte*>(back.data()), all.size());
      for (const std::uint16_t bits : all) {
        const float expected = brain == 1 ? float_of_brain(bits) : float_of_half(bits);
        const float found = wide[bits];
        if (std::isnan(expected)) {
          REQUIRE(std::isnan(found));
          REQUIRE_EQ(std::signbit(found), (bits & 0x8000) != 0);
          REQUIRE_EQ(back[bits], bits | (brain == 1 ? 0x40 : 0x200));  // the payload stays, made quiet
        } else {
          REQUIRE_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(expected));
          REQUIRE_EQ(back[bits], bits);
        }
      }
    }
}

TEST_CASE("float32 is rounded to the nearest even 16-bit number") {
  std::vector<float> values;
  const auto add_bits = [&](std::uint64_t bits) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  };
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1021) add_bits(bits);
  for (std::uint32_t half = 0; half < 65536; ++half) {  // ties and their neighbours
    const auto bits = std::bit_cast<std::uint32_t>(float_of_half(static_cast<std::uint16_t>(half)));
    for (const std::uint32_t rest : {0xfffU, 0x1000U, 0x1001U}) add_bits(bits + rest);
    for (const std::uint32_t rest : {0x7fffU, 0x8000U, 0x8001U}) add_bits((half << 16) + rest);
    const auto place = static_cast<float>(half & 0x7ff) * 0x1p-25F;  // float16's denormals and halves of them
    for (const float next : {place, std::nextafter(place, 1.0F), std::nextafter(place, -1.0F)})
      values.push_back((half & 0x800) != 0 ? -next : next);
  }
  std::vector<std::uint16_t> found(values.size());
  for (const std::size_t brain : {0U, 1U}) {
    std::vector<std::uint16_t> expected(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      expected[i] = brain == 1 ? brain_of(values[i]) : half_of(values[i]);
      if (brain == 0 && !std::isnan(values[i])) REQUIRE_EQ(expected[i], half_by_arithmetic(values[i]));
    }
    for (const ddl::KernelTable* kernels : kernels_here()) {
      CAPTURE(kernels->name);
      CAPTURE(brain);
      kernels->narrow[brain](values.data(), reinterpret_cast<std::byte*>(found.data()), values.size());
      const auto first = std::mismatch(found.begin(), found.end(), expected.begin()).first - found.begin();
      CAPTURE(first);
      REQUIRE_EQ(first, static_cast<std::ptrdiff_t>(found.size()));
    }
  }
}

TEST_CASE("the best instruction set is used unless a lower one is wished for") {
  const std::string best = kernels_here().back()->name;
  CHECK_EQ(ddl::choose_kernels(nullptr).name, best);
  CHECK_EQ(ddl::choose_kernels("").name, best);
  CHECK_EQ(ddl::choose_kernels("sse9").name, best);
  for (const ddl::KernelTable* kernels : kernels_here())
    CHECK_EQ(std::string(ddl::choose_kernels(kernels->name).name), kernels->name);
}

TEST_CASE("reduce, narrow and widen as others call them") {
  const float left[] = {1.5F, -2.0F, 3.0F}, right[] = {0.25F, 4.0F, -1.0F};
  float result[3];
  const std::byte* sources[] = {reinterpret_cast<const std::byte*>(left),
                                reinterpret_cast<const std::byte*>(right)};
  std::byte* destinations[] = {reinterpret_cast<std::byte*>(result)};
  ddl::reduce({DataType::float32, Operation::average, 0.5}, sources, destinations, 3);
  CHECK_EQ(result[0], 0.875F);
  CHECK_EQ(result[1], 1.0F);
  CHECK_EQ(result[2], 1.0F);
  ddl::reduce({DataType::float32, Operation::max, 0.5}, sources, destinations, 3);
  CHECK_EQ(result[0], 1.5F);
  CHECK_EQ(result[1], 4.0F);
  ddl::reduce({DataType::float32, Operation::min, 0.5}, sources, destinations, 3);
  CHECK_EQ(result[0], 0.25F);
  CHECK_EQ(result[1], -2.0F);
  ddl::reduce({DataType::float32, Operation::product, 0.5}, sources, destinations, 3);
  CHECK_EQ(result[0], 0.375F);
  CHECK_EQ(result[1], -8.0F);
  std::uint16_t narrowed[3];
  float widened[3];
  ddl::narrow(DataType::bfloat16, left, reinterpret_cast<std::byte*>(narrowed));
  CHECK_EQ(narrowed[0], 0x3fc0);
  ddl::widen(DataType::bfloat16, reinterpret_cast<const std::byte*>(narrowed), widened);
  CHECK_EQ(widened[1], -2.0F);
  ddl::narrow(DataType::float16, left, reinterpret_cast<std::byte*>(narrowed));
  CHECK_EQ(narrowed[0], 0x3e00);
  ddl::widen(DataType::float16, reinterpret_cast<const std::byte*>(narrowed), widened);
  CHECK_EQ(widened[2], 3.0F);
  CHECK(ddl::find_kernels(ddl::kernel_name()) != nullptr);
}

TEST_SUITE_END();
