// SPDX-License-Identifier: MIT
// Calls on the numbers of a program as they are, with inputs that are const; and the calls of one rank.
#include "ddl/api/context_factory.hpp"
#include "ddl/ddl.hpp"
#include "ddl/transport/transport.hpp"
#include "tests/support/thread_contexts.hpp"
#include "tests/unit/ddl/api/placements.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <future>
#include <iterator>
#include <vector>

TEST_SUITE_BEGIN("ddl/api/context_plain");

namespace {

using ddl::Context;
using ddl::Operation;
using ddl::tests::packed_hosts;
using ddl::tests::run_contexts;
using ddl::tests::Wrong;

Context make_alone() {
  return ddl::ContextFactory::make(ddl::make_single_process_transport(), ddl::Options{});
}

std::ptrdiff_t threads_here() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

}  // namespace

TEST_CASE("calls with an input and an output take plain numbers, the input const or temporary") {
  for (const std::vector<std::string>& hosts : {packed_hosts(1, 3), packed_hosts(3, 1)}) {
    Wrong wrong;
    run_contexts(hosts, {}, [&](Context& ddl) {
      const auto rank = static_cast<float>(ddl.rank());
      const std::vector<float> part{rank, rank + 10};
      std::vector<float> all(6);
      ddl.all_gather(part, all);
      wrong.unless(all == std::vector<float>{0, 10, 1, 11, 2, 12});
      std::array<double, 3> numbers{};
      ddl.all_gather(static_cast<double>(ddl.rank()) * 2, numbers);
      wrong.unless(numbers == std::array<double, 3>{0, 2, 4});
      const std::vector<std::int32_t> one_each{1, 2, 3};
      std::int32_t mine = 0;
      ddl.reduce_scatter(one_each, mine, Operation::sum);
      wrong.unless(mine == 3 * (ddl.rank() + 1));
      std::vector<float> collected(ddl.rank() == 1 ? 6 : 0);
      ddl.gather(std::span<const float>(part), collected, 1);
      if (ddl.rank() == 1) wrong.unless(collected == all);
      const std::vector<float> source = ddl.rank() == 2 ? all : std::vector<float>();
      std::vector<float> scattered(2);
      ddl.scatter(source, std::span(scattered), 2);
      wrong.unless(scattered == part);
      // A name for messages, and memory that the host shares.
      const ddl::Buffer<float> shared = ddl.allocate<float>(2);
      std::copy(part.begin(), part.end(), shared.begin());
      std::fill(all.begin(), all.end(), 0.0F);
      ddl.all_gather(shared, ddl::tensor(all, "all"));
      wrong.unless(all == std::vector<float>{0, 10, 1, 11, 2, 12});
      ddl.scatter(ddl::input(all, "all"), shared, 0);
      wrong.unless(shared[1] == part[1]);
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("input() names numbers that it does not own, const or not") {
  const std::vector<float> numbers(4);
  const ddl::ConstTensor input = ddl::input(numbers, "part");
  CHECK(input.data == reinterpret_cast<const std::byte*>(numbers.data()));
  CHECK(input.count == 4);
  CHECK(input.type == ddl::DataType::float32);
  CHECK(input.name == "part");
  CHECK(ddl::input(input).name == "part");
  const long number = 3;
  CHECK(ddl::input(number).type == ddl::DataType::int64);
  CHECK(ddl::device_tensor(numbers.data(), 4, "on a GPU").memory == ddl::Memory::device);
}

TEST_CASE("one rank: each call has its result at once, and no thread is started") {
  Context alone = make_alone();
  const auto before = threads_here();
  std::vector<float> values{1, 2, 3};
  const std::vector<float> same = values;
  for (const Operation operation :
       {Operation::sum, Operation::average, Operation::max, Operation::min, Operation::product}) {
    ddl::Handle sum = alone.start_all_reduce(values, operation);
    CHECK(sum.done());
    sum.wait();
    alone.all_reduce(values, operation);
    CHECK(alone.start_reduce(values, operation, 0).done());
  }
  CHECK(alone.start_broadcast(values, 0).done());
  CHECK(values == same);
  std::vector<float> out(3);
  alone.all_gather(same, out);
  CHECK(out == same);
  for (float& each : out) each = 0;
  alone.reduce_scatter(same, out, Operation::average);
  CHECK(out == same);
  for (float& each : out) each = 0;
  alone.scatter(same, out, 0);
  CHECK(out == same);
  for (float& each : out) each = 0;
  alone.gather(same, out, 0);
  CHECK(out == same);
  alone.barrier();
  CHECK(threads_here() == before);
}

TEST_CASE("one rank: a call that is started behind others still runs behind them, and is refused as ever") {
  Context alone = make_alone();
  std::promise<void> go;
  std::vector<float> values{1};
  ddl::Handle first = alone.start([&] {
    go.get_future().wait();
    values[0] = 2;
  });
  ddl::Handle second = alone.start_all_reduce(values, Operation::sum);
  CHECK(!second.done());
  go.set_value();
  second.wait();
  CHECK(values[0] == 2);
  std::vector<int> integers(2);
  CHECK_THROWS_WITH_AS(alone.start_all_reduce(integers, Operation::average).wait(),
                       "int32 cannot be averaged", ddl::Error);
}

TEST_SUITE_END();
