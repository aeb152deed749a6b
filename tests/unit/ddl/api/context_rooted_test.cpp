// SPDX-License-Identifier: MIT
// reduce, scatter and gather by the interface, with threads for ranks on several hosts; against closed forms.
#include "ddl/ddl.hpp"
#include "tests/unit/ddl/api/placements.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("ddl/api/context_rooted");

namespace {

using ddl::Context;
using ddl::Operation;
using ddl::Options;
using ddl::tests::element;
using ddl::tests::packed_hosts;
using ddl::tests::Placement;
using ddl::tests::placements;
using ddl::tests::run_contexts;
using ddl::tests::sum_of_factors;
using ddl::tests::with_dims;
using ddl::tests::Wrong;

constexpr std::size_t rooted_counts[] = {0, 1, 3, 1000, 70000};

void reduce_to(Context& ddl, int root, std::size_t count, Wrong& wrong) {
  const bool is_root = ddl.rank() == root;
  const double factors = sum_of_factors(ddl.size());
  const ddl::Buffer<float> shared = ddl.allocate<float>(count);
  std::vector<float> own(count);
  std::vector<std::int64_t> whole(count);
  for (std::size_t i = 0; i < count; ++i) {
    shared[i] = own[i] = element(ddl.rank(), i);
    whole[i] = ddl.rank() + static_cast<std::int64_t>(i);
  }
  ddl.reduce(shared, Operation::sum, root);
  ddl.reduce(own, Operation::average, root);
  ddl.start_reduce(whole, Operation::min, root).wait();
  for (std::size_t i = 0; i < count; ++i) {
    const double sum = factors * static_cast<double>(i % 1000 + 1);
    const float mine = element(ddl.rank(), i);
    wrong.unless(is_root ? static_cast<double>(shared[i]) == sum : shared[i] == mine);
    const double average = sum / ddl.size();
    wrong.unless(is_root ? std::abs(static_cast<double>(own[i]) - average) <= 1e-6 * average
                         : own[i] == mine);
    wrong.unless(whole[i] == (is_root ? 0 : ddl.rank()) + static_cast<std::int64_t>(i));
  }
}

}  // namespace

TEST_CASE("reduce: the root has the sum, all others have what they had") {
  for (const Placement& placement : placements()) {
    for (const char mode : {'b', 'r'}) {
      CAPTURE(placement.dims);
      CAPTURE(placement.hosts.size());
      Options options = with_dims(placement.dims);
      options.mode = static_cast<ddl::Mode>(mode);
      Wrong wrong;
      run_contexts(placement.hosts, options, [&](Context& ddl) {
        for (const std::size_t count : rooted_counts)
          for (const int root : {0, ddl.size() / 2, ddl.size() - 1}) reduce_to(ddl, root, count, wrong);
        reduce_to(ddl, ddl.size() / 2, 300001, wrong);  // one root: it takes as long as all before it
      });
      CHECK(wrong.values == 0);
    }
  }
}

// Over narrow wires the rank that adds does not narrow its own numbers, and which one adds differs.
TEST_CASE("reduce gives the root the bits of all_reduce; over narrow wires nearly") {
  for (const Placement& placement : placements()) {
    for (const bool is_narrow : {false, true}) {
      CAPTURE(placement.dims);
      CAPTURE(placement.hosts.size());
      Options options = with_dims(placement.dims);
      if (is_narrow) options.wire = ddl::DataType::bfloat16;
      Wrong wrong;
      run_contexts(placement.hosts, options, [&](Context& ddl) {
        for (const std::size_t count : {std::size_t{1000}, std::size_t{70000}}) {
          std::vector<float> all(count);
          for (std::size_t i = 0; i < count; ++i)
            all[i] = 1.0F / static_cast<float>(i % 977 + static_cast<std::size_t>(ddl.rank()) * 3 + 1);
          std::vector<float> one = all;
          ddl.all_reduce(all, Operation::average);
          ddl.reduce(one, Operation::average, 0);
          for (std::size_t i = 0; i < count && ddl.rank() == 0; ++i)
            wrong.unless(std::abs(all[i] - one[i]) <= (is_narrow ? all[i] / 64 : 0.0F));
        }
      });
      CHECK(wrong.values == 0);
    }
  }
}

TEST_CASE("scatter and gather: parts in rank order, from every root and to it") {
  for (const Placement& placement : placements()) {
    CAPTURE(placement.dims);
    CAPTURE(placement.hosts.size());
    Wrong wrong;
    run_contexts(placement.hosts, with_dims(placement.dims), [&](Context& ddl) {
      const auto ranks = static_cast<std::size_t>(ddl.size());
      for (const std::size_t part : {std::size_t{0}, std::size_t{1}, std::size_t{37}, std::size_t{20000}}) {
        for (int root = 0; root < ddl.size(); ++root) {
          const bool is_root = ddl.rank() == root;
          std::vector<std::int64_t> all(is_root ? part * ranks : 0);
          for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i) + root;
          std::vector<std::int64_t> mine(part, -1);
          ddl.scatter(is_root ? ddl::tensor(all) : ddl::Tensor{}, ddl::tensor(mine), root);
          for (std::size_t i = 0; i < part; ++i) {
            const auto at = static_cast<std::size_t>(ddl.rank()) * part + i;
            wrong.unless(mine[i] == static_cast<std::int64_t>(at) + root);
            mine[i] *= 2;
          }
          ddl.gather(ddl::tensor(mine), is_root ? ddl::tensor(all) : ddl::Tensor{}, root);
          for (std::size_t i = 0; i < all.size(); ++i)
            wrong.unless(all[i] == 2 * (static_cast<std::int64_t>(i) + root));
        }
      }
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("calls with a root that differ are reported with operation, root and tensor") {
  struct Row {
    std::function<void(Context&, const ddl::Tensor&)> odd;
    std::string says;
  };
  const Row rows[] = {
      {[](Context& ddl, const ddl::Tensor& tensor) { ddl.reduce(tensor, Operation::sum, 1); },
       "calls reduce #1 (sum, root 1) of 100 float32 \"loss\""},
      {[](Context& ddl, const ddl::Tensor& tensor) { ddl.reduce(tensor, Operation::product, 0); },
       "calls reduce #1 (product, root 0) of 100 float32 \"loss\""},
      {[](Context& ddl, const ddl::Tensor& tensor) { ddl.scatter({}, tensor, 0); },
       "calls scatter #1 (root 0) of 100 float32 \"loss\""},
      {[](Context& ddl, const ddl::Tensor& tensor) { ddl.gather(tensor, {}, 0); },
       "calls gather #1 (root 0) of 100 float32 \"loss\""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.says);
    std::mutex mutex;
    std::vector<std::string> reported;
    CHECK_THROWS_AS(run_contexts(packed_hosts(1, 2), {},
                                 [&](Context& ddl) {
                                   std::vector<float> values(100);
                                   const ddl::Tensor tensor = ddl::tensor(values, "loss");
                                   try {
                                     if (ddl.rank() == 1) return row.odd(ddl, tensor);
                                     ddl.reduce(tensor, Operation::sum, 0);
                                   } catch (const ddl::Error& error) {
                                     const std::lock_guard lock(mutex);
                                     reported.emplace_back(error.what());
                                     throw;
                                   }
                                 }),
                    ddl::Error);
    CHECK(reported.size() == 2);
    for (const std::string& text : reported) {
      CAPTURE(text);
      CHECK(text.find(row.says) != std::string::npos);
      CHECK(text.find("rank 0 (h0) calls reduce #1 (sum, root 0) of 100 float32 \"loss\"") !=
            std::string::npos);
    }
  }
}

TEST_CASE("invalid arguments of calls with a root are refused, and do not count") {
  run_contexts(packed_hosts(1, 2), {}, [](Context& ddl) {
    std::vector<float> few(4, 1.0F);
    std::vector<float> many(8, 1.0F);
    std::vector<std::int32_t> whole(4);
    const ddl::Tensor small = ddl::tensor(few, "few");
    if (ddl.rank() == 0) {
      CHECK_THROWS_WITH_AS(ddl.reduce(small, Operation::sum, 2), "invalid root 2: must be 0 to 1",
                           ddl::Error);
      CHECK_THROWS_WITH_AS(ddl.reduce(whole, Operation::average, 0), "int32 cannot be averaged", ddl::Error);
      CHECK_THROWS_WITH_AS(ddl.scatter(ddl::tensor(many), small, -1), "invalid root -1: must be 0 to 1",
                           ddl::Error);
      CHECK_THROWS_WITH_AS(
          ddl.scatter(small, small, 0),
          "scatter from 4 float32 into 4 float32: 2 ranks need an input of 8 for an output of 4", ddl::Error);
      CHECK_THROWS_WITH_AS(ddl.gather(small, small, 0),
                           "gather from 4 float32 into 4 float32: 2 ranks need an output of 8", ddl::Error);
      CHECK_THROWS_AS(ddl.gather(small, ddl::Tensor{nullptr, 8, ddl::DataType::float32, ""}, 0), ddl::Error);
    }
    CHECK_NOTHROW(ddl.reduce(small, Operation::sum, 0));
    CHECK(few[3] == (ddl.rank() == 0 ? 2.0F : 1.0F));
  });
}

TEST_SUITE_END();
