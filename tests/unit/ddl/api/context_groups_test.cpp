// SPDX-License-Identifier: MIT
// Groups of ranks, with threads for ranks on several hosts: a grid of 2 rows and 3 columns, groups of groups,
// ranks without a group, and what an error in one means for the others.
#include "ddl/ddl.hpp"
#include "tests/support/thread_contexts.hpp"
#include "tests/unit/ddl/api/placements.hpp"

#include <doctest/doctest.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("ddl/api/context_groups");

namespace {

using ddl::Context;
using ddl::Operation;
using ddl::tests::interleaved_hosts;
using ddl::tests::packed_hosts;
using ddl::tests::run_contexts;
using ddl::tests::Wrong;

constexpr int columns = 3;

std::vector<std::vector<std::string>> six_ranks() {
  return {packed_hosts(1, 6),      packed_hosts(2, 3),      packed_hosts(6, 1),
          interleaved_hosts(2, 3), interleaved_hosts(3, 2), {"h0", "h0", "h0", "h0", "h1", "h2"}};
}

// The sum of the ranks' numbers, from 1 on, which each rank of `group` must get.
int sum_in(Context& group, int number, std::size_t count = 1000) {
  std::vector<std::int32_t> values(count, number);
  group.all_reduce(values, Operation::sum);
  return values.front() == values.back() ? values.back() : -1;
}

// What each rank throws, of `work`.
std::multiset<std::string> errors_of(const std::vector<std::string>& hosts, double timeout,
                                     const std::function<void(Context&)>& work) {
  std::mutex mutex;
  std::multiset<std::string> errors;
  ddl::Options options;
  options.timeout_seconds = timeout;
  run_contexts(hosts, options, [&](Context& ddl) {
    try {
      work(ddl);
    } catch (const ddl::Error& error) {
      const std::lock_guard lock(mutex);
      errors.insert(error.what());
    }
  });
  return errors;
}

}  // namespace

TEST_CASE("rows and columns of a grid: sums, order, names and calls between those of all ranks") {
  for (const std::vector<std::string>& hosts : six_ranks()) {
    CAPTURE(hosts);
    Wrong wrong;
    run_contexts(hosts, {}, [&](Context& ddl) {
      const int row = ddl.rank() / columns;
      const int column = ddl.rank() % columns;
      std::optional<Context> in_row = ddl.split(row, column, "row");
      std::optional<Context> in_column = ddl.split(column, -row, "column");  // from below
      if (!in_row || !in_column) return wrong.unless(false);
      wrong.unless(in_row->rank() == column && in_row->size() == columns);
      wrong.unless(in_column->rank() == 1 - row && in_column->size() == 2);
      wrong.unless(in_row->name_of(0).starts_with(row == 0 ? "rank 0 (h" : "rank 3 (h"));
      const int number = ddl.rank() + 1;
      for (int i = 0; i < 20; ++i) {
        const std::size_t count = i % 2 == 0 ? 3 : 100'000;
        wrong.unless(sum_in(*in_row, number, count) == (row == 0 ? 6 : 15));
        wrong.unless(sum_in(*in_column, number, count) == 2 * column + 5);
        wrong.unless(sum_in(ddl, number, count) == 21);
      }
      std::vector<std::int32_t> members(2);
      in_column->all_gather(ddl.rank(), members);
      wrong.unless(members == std::vector<std::int32_t>{column + columns, column});
      int from = ddl.rank();
      in_row->broadcast(from, 2);
      wrong.unless(from == row * columns + 2);
      std::int32_t mine = 0;
      in_row->reduce_scatter(std::vector<std::int32_t>{1, 2, 3}, mine, Operation::sum);
      wrong.unless(mine == 3 * (column + 1));
      const ddl::Buffer<float> shared = in_row->allocate<float>(1000);
      std::fill(shared.begin(), shared.end(), static_cast<float>(number));
      in_row->all_reduce(shared, Operation::max);
      wrong.unless(shared[999] == static_cast<float>(row * columns + columns));
      in_row->barrier();
      wrong.unless(in_column->gather(std::to_string(ddl.rank())) ==
                   std::vector<std::string>{std::to_string(column + columns), std::to_string(column)});
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("started calls of all groups run in their order; a blocking call of one waits for all") {
  Wrong wrong;
  run_contexts(packed_hosts(2, 3), {}, [&](Context& ddl) {
    std::optional<Context> row = ddl.split(ddl.rank() / columns);
    std::vector<float> values(5000, 1.0F);
    for (int i = 0; i < 10; ++i) {
      std::fill(values.begin(), values.end(), 1.0F);
      const ddl::Handle in_row = row->start_all_reduce(values, Operation::sum);
      const ddl::Handle of_all = ddl.start_all_reduce(values, Operation::sum);
      ddl::Handle both = ddl.start([&] {
        row->all_reduce(values, Operation::max);
        ddl.all_reduce(values, Operation::average);
      });
      row->barrier();
      wrong.unless(both.done() && values[4999] == 18.0F);
    }
  });
  CHECK(wrong.values == 0);
}

TEST_CASE(
    "a split of a split, ranks without a color, groups that end before others and after the first Context") {
  for (const std::vector<std::string>& hosts : six_ranks()) {
    Wrong wrong;
    run_contexts(hosts, {}, [&](Context& ddl) {
      const int rank = ddl.rank();
      std::optional<Context> most = ddl.split(rank == 4 ? std::nullopt : std::optional(0));
      wrong.unless(most.has_value() == (rank != 4));
      std::optional<Context> half;
      if (most) {
        wrong.unless(sum_in(*most, 1) == 5);
        half = most->split(most->rank() % 2);  // ranks 0, 2, 5 and 1, 3
        wrong.unless(half && sum_in(*half, 1) == (most->rank() % 2 == 0 ? 3 : 2));
        wrong.unless(
            half->name_of(half->size() - 1).starts_with(half->size() == 3 ? "rank 5 (" : "rank 3 ("));
        most.reset();
        wrong.unless(sum_in(*half, 1) == (half->size() == 3 ? 3 : 2));
      }
      wrong.unless(sum_in(ddl, 1) == 6);
      std::optional<Context> alone = ddl.split(rank);
      wrong.unless(alone->size() == 1 && sum_in(*alone, 7) == 7);
      { const Context first = std::move(ddl); }
      if (half) wrong.unless(sum_in(*half, 1) == (half->size() == 3 ? 3 : 2));
      wrong.unless(sum_in(*alone, 7) == 7);
      alone = std::move(half);
      if (alone) wrong.unless(sum_in(*alone, 1) == alone->size());
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("other calls in a group: both are named, with the group, and it is the error of all Contexts") {
  for (const std::vector<std::string>& hosts : {packed_hosts(1, 6), packed_hosts(2, 3)}) {
    const std::string host = hosts.back();
    const auto errors = errors_of(hosts, 3.0, [](Context& ddl) {
      std::optional<Context> row = ddl.split(ddl.rank() / columns, 0, "row");
      std::vector<float> values(1000);
      const ddl::Tensor w = ddl::tensor(values, "w");
      if (ddl.rank() < columns)
        return sum_in(*row, 1) == 3 ? void() : throw ddl::Error(ddl::Fault::lost, "?", "", "?");
      row->all_reduce(w, Operation::sum);
      try {
        row->all_reduce(w, ddl.rank() == 4 ? Operation::max : Operation::sum);
      } catch (const ddl::Error& error) {
        try {
          ddl.barrier();
        } catch (const ddl::Error& again) {
          if (std::string(again.what()) == error.what()) throw;
        }
      }
    });
    CHECK(errors.size() == 3);
    CHECK(errors.count("rank 4 (" + host +
                       ") calls all_reduce #2 (max) of 1000 float32 \"w\" in row 1, rank 3 (" + host +
                       ") calls all_reduce #2 (sum) of 1000 float32 \"w\" in row 1") == 3);
  }
}

TEST_CASE("a rank that splits while others sum, one that ends its group, and colors that there are not") {
  const auto odd = errors_of(packed_hosts(1, 3), 3.0, [](Context& ddl) {
    if (ddl.rank() == 1)
      ddl.split(0);
    else
      sum_in(ddl, 1);
  });
  CHECK(odd.size() == 3);
  CHECK(
      odd.begin()->find("rank 1 (h0) calls split #1, rank 0 (h0) calls all_reduce #1 (sum) of 1000 int32") !=
      std::string::npos);
  const auto ended = errors_of(packed_hosts(1, 3), 10.0, [](Context& ddl) {
    std::optional<Context> all = ddl.split(0, 0, "team");
    if (ddl.rank() == 2) {
      all.reset();
      return;
    }
    sum_in(*all, 1);
  });
  CHECK(ended.count(
            "rank 2 (h0) makes no more calls, and this is all_reduce #1 (sum) of 1000 int32 in team 0") == 2);
  const auto refused = errors_of(packed_hosts(1, 2), 10.0, [](Context& ddl) {
    CHECK_THROWS_WITH_AS(ddl.split(-32766), "invalid color -32766: must be 0 or more", ddl::Error);
    ddl.barrier();
    ddl.start([&] { ddl.split(0); }).wait();
  });
  CHECK(refused.count("split is called in a call of start()") == 2);
}

TEST_SUITE_END();
