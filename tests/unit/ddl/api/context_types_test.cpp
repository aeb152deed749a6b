// SPDX-License-Identifier: MIT
// Operations and types by the interface, with threads for ranks on several hosts; against closed forms.
#include "ddl/ddl.hpp"
#include "tests/unit/ddl/api/placements.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

TEST_SUITE_BEGIN("ddl/api/context_types");

namespace {

using ddl::Context;
using ddl::Operation;
using ddl::tests::element;
using ddl::tests::Placement;
using ddl::tests::placements;
using ddl::tests::run_contexts;
using ddl::tests::sum_of_factors;
using ddl::tests::with_dims;
using ddl::tests::Wrong;

}  // namespace

TEST_CASE("minimum and product, of whole numbers too, in shared and in private memory") {
  for (const Placement& placement : placements()) {
    CAPTURE(placement.dims);
    CAPTURE(placement.hosts.size());
    Wrong wrong;
    run_contexts(placement.hosts, with_dims(placement.dims), [&](Context& ddl) {
      for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{70000}}) {
        const ddl::Buffer<float> shared = ddl.allocate<float>(count);
        std::vector<std::int64_t> factors(count, ddl.rank() + 1);
        std::vector<std::uint8_t> bytes(count, 3);
        for (std::size_t i = 0; i < count; ++i) shared[i] = element(ddl.size() - 1 - ddl.rank(), i);
        ddl.all_reduce(shared, Operation::min);
        ddl.all_reduce(factors, Operation::product);
        ddl.start_all_reduce(bytes, Operation::product).wait();
        std::int64_t factorial = 1;
        std::uint8_t power = 1;
        for (int rank = 0; rank < ddl.size(); ++rank) {
          factorial *= rank + 1;
          power = static_cast<std::uint8_t>(power * 3);
        }
        for (std::size_t i = 0; i < count; ++i) {
          wrong.unless(shared[i] == element(0, i));
          wrong.unless(factors[i] == factorial && bytes[i] == power);
        }
      }
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("the other types: integers, float64 and the 16-bit ones, exactly") {
  for (const Placement& placement : placements()) {
    CAPTURE(placement.hosts.size());
    Wrong wrong;
    run_contexts(placement.hosts, {}, [&](Context& ddl) {
      const int ranks = ddl.size();
      std::vector<std::int32_t> whole(5000, ddl.rank() + 1);
      // Of 61 bits: a sum in float64 would lose the last ones. uint8 wraps around.
      std::vector<std::int64_t> wide(5000, (std::int64_t{1} << 60) + ddl.rank());
      std::vector<std::uint8_t> bytes(5000, 250);
      std::vector<double> exact(5000, 0x1p40 * (ddl.rank() + 1) + 1);
      // 1.0 in both 16-bit types: sums up to 8 are exact.
      std::vector<ddl::Float16> half(5000, ddl::Float16{0x3c00});
      std::vector<ddl::BFloat16> brain(5000, ddl::BFloat16{0x3f80});
      ddl.all_reduce(ddl::tensor(std::span(whole)), Operation::sum);
      ddl.all_reduce(wide, Operation::sum);
      ddl.all_reduce(bytes, Operation::sum);
      ddl.all_reduce(ddl::tensor(std::span(exact)), Operation::sum);
      ddl.all_reduce(ddl::tensor(std::span(half)), Operation::average);
      ddl.all_reduce(ddl::tensor(std::span(brain)), Operation::max);
      for (const auto v : whole) wrong.unless(v == static_cast<std::int32_t>(sum_of_factors(ranks)));
      const auto sum =
          static_cast<std::int64_t>((std::uint64_t{1} << 60) * static_cast<std::uint64_t>(ranks)) +
          ranks * (ranks - 1) / 2;
      for (const auto v : wide) wrong.unless(v == sum);
      for (const auto v : bytes) wrong.unless(v == static_cast<std::uint8_t>(250 * ranks));
      for (const auto v : exact) wrong.unless(v == 0x1p40 * sum_of_factors(ranks) + ranks);
      for (const auto v : half) wrong.unless(ranks == 3 || ranks == 9 || v.bits == 0x3c00);
      for (const auto v : brain) wrong.unless(v.bits == 0x3f80);
    });
    CHECK(wrong.values == 0);
  }
}

TEST_SUITE_END();
