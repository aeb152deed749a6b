// SPDX-License-Identifier: MIT
#include "ddl/node/node_collectives.hpp"

#include "tests/support/sanitized.hpp"
#include "tests/unit/ddl/node/node_ranks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("ddl/node/node_collectives");

using ddl::DataType;
using ddl::NodeCollectives;
using ddl::NodeComm;
using ddl::Operation;
using ddl::Slice;
using ddl::tests::NodeBuffer;
using ddl::tests::on_threads;

namespace {

constexpr bool sanitized = ddlrun::testing::with_asan || ddlrun::testing::with_tsan;

constexpr DataType stage_types[] = {DataType::float32,  DataType::float64, DataType::float16,
                                    DataType::bfloat16, DataType::int32,   DataType::int64,
                                    DataType::uint8};

// Small whole numbers: exact in all types, bfloat16's 8 bits of mantissa included. 9 ranks sum to 126 at
// most.
int value_at(int rank, std::size_t index) {
  return static_cast<int>((index * 7 + static_cast<std::size_t>(rank) * 3) % 15);
}

int sum_at(int size, std::size_t index) {
  int sum = 0;
  for (int rank = 0; rank < size; ++rank) sum += value_at(rank, index);
  return sum;
}
int most_at(int size, std::size_t index) {
  int most = 0;
  for (int rank = 0; rank < size; ++rank) most = std::max(most, value_at(rank, index));
  return most;
}
int least_at(int size, std::size_t index) {
  int least = value_at(0, index);
  for (int rank = 1; rank < size; ++rank) least = std::min(least, value_at(rank, index));
  return least;
}
// Rank 0's number, which up to 3 others double.
int product_at(int size, std::size_t index) { return value_at(0, index) << std::min(size - 1, 3); }

void put(std::byte* data, DataType type, std::size_t index, int value) {
  const float number = static_cast<float>(value);
  std::byte* at = data + index * size_of(type);
  const auto store = [&](const auto& stored) { std::memcpy(at, &stored, sizeof(stored)); };
  switch (type) {
    case DataType::float32:
      return store(number);
    case DataType::float64:
      return store(static_cast<double>(value));
    case DataType::float16:
      return store(static_cast<_Float16>(number));
    case DataType::int32:
      return store(value);
    case DataType::int64:
      return store(std::int64_t{value});
    case DataType::uint8:
      return store(static_cast<std::uint8_t>(value));
    case DataType::bfloat16:
      break;
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, 4);
  store(static_cast<std::uint16_t>(bits >> 16));
}

std::vector<std::byte> numbers(DataType type, std::size_t count,
                               const std::function<int(std::size_t)>& value) {
  std::vector<std::byte> bytes(count * size_of(type) + 1);  // never without data()
  for (std::size_t i = 0; i < count; ++i) put(bytes.data(), type, i, value(i));
  return bytes;
}

// Of the elements of `slice`.
bool same(const std::byte* got, const std::vector<std::byte>& expected, DataType type, const Slice& slice) {
  const std::size_t at = slice.begin * size_of(type);
  return std::memcmp(got + at, expected.data() + at, slice.count * size_of(type)) == 0;
}

// Failures of other threads, collected: doctest's checks stay in the main thread.
class Complaints {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (texts_.size() < 5) texts_.push_back(text);
  }
  std::string all() const {
    std::string text;
    for (const std::string& one : texts_) text += one + "\n";
    return text;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

// The numbers of the longest vector; those of shorter ones are their beginnings.
struct Known {
  Known(DataType type_, int rank, int size, std::size_t most)
      : type(type_),
        mine(numbers(type_, most, [&](std::size_t i) { return value_at(rank, i); })),
        sums(numbers(type_, most, [&](std::size_t i) { return sum_at(size, i); })) {}
  DataType type;
  std::vector<std::byte> mine;
  std::vector<std::byte> sums;
};

// The sums for one size and type, where the numbers are shared and where not.
void check_sums(NodeCollectives& stage, const NodeBuffer& ground, std::size_t count, const Known& known,
                std::uint64_t& sequence, Complaints& complaints) {
  const DataType type = known.type;
  const ddl::Reduction sum{type, Operation::sum, 1.0};
  std::vector<std::byte> data(known.mine.begin(),
                              known.mine.begin() + static_cast<long>(count * size_of(type) + 1));
  std::memcpy(ground.own(), known.mine.data(), count * size_of(type));
  stage.all_reduce(ground.range(count, type), sum, {++sequence, 0});
  stage.all_reduce(data.data(), count, sum, {++sequence, 0});
  if (same(ground.own(), known.sums, type, {0, count}) && same(data.data(), known.sums, type, {0, count}))
    return;
  complaints.add("all_reduce of " + std::to_string(count) + " " + std::string(name_of(type)));
}

// All calls for one size and type; everything is compared with closed forms.
void check_all(NodeComm& group, NodeCollectives& stage, const NodeBuffer& ground, std::size_t count,
               DataType type, std::uint64_t& sequence, Complaints& complaints) {
  const int rank = group.local_rank();
  const int size = group.local_size();
  const Slice whole{0, count};
  const Slice mine = stage.slice(count, type);
  const ddl::SharedRange range = ground.range(count, type);
  const auto own_numbers = numbers(type, count, [&](std::size_t i) { return value_at(rank, i); });
  const auto sums = numbers(type, count, [&](std::size_t i) { return sum_at(size, i); });
  const auto mosts = numbers(type, count, [&](std::size_t i) { return most_at(size, i); });
  const auto leasts = numbers(type, count, [&](std::size_t i) { return least_at(size, i); });
  const auto factors = numbers(type, count, [&](std::size_t) { return rank <= 3 ? 2 : 1; });
  const auto products = numbers(type, count, [&](std::size_t i) { return product_at(size, i); });
  const int root = static_cast<int>(count) % size;
  const auto roots = numbers(type, count, [&](std::size_t i) { return value_at(root, i); });
  const ddl::Reduction sum{type, Operation::sum, 1.0};
  const std::size_t bytes = count * size_of(type);
  const auto next = [&] { return ddl::CallId{++sequence, count}; };
  const auto expect = [&](bool good, const char* what) {
    if (!good)
      complaints.add(std::string(what) + " of " + std::to_string(count) + " " + std::string(name_of(type)) +
                     ", rank " + std::to_string(rank) + " of " + std::to_string(size));
  };
  const auto fill = [&](std::byte* data) {
    if (bytes != 0) std::memcpy(data, own_numbers.data(), bytes);
  };

  fill(ground.own());
  stage.all_reduce(range, sum, next());
  expect(same(ground.own(), sums, type, whole), "shared all_reduce");
  stage.barrier(next());
  fill(ground.own());
  stage.all_reduce(range, {type, Operation::max, 1.0}, next());
  expect(same(ground.own(), mosts, type, whole), "shared maximum");
  stage.barrier(next());
  fill(ground.own());
  stage.all_reduce(range, {type, Operation::min, 1.0}, next());
  expect(same(ground.own(), leasts, type, whole), "shared minimum");
  stage.barrier(next());
  if (rank == 0) fill(ground.own());
  if (rank != 0 && bytes != 0) std::memcpy(ground.own(), factors.data(), bytes);
  stage.all_reduce(range, {type, Operation::product, 1.0}, next());
  expect(same(ground.own(), products, type, whole), "shared product");
  stage.barrier(next());
  fill(ground.own());
  stage.reduce_scatter(range, sum, next());
  expect(same(ground.own(), sums, type, mine), "shared reduce_scatter");
  stage.all_gather(range, next());
  expect(same(ground.own(), sums, type, whole), "shared all_gather");
  stage.barrier(next());
  fill(ground.own());
  stage.broadcast(range, root, next());
  expect(same(ground.own(), roots, type, whole), "shared broadcast");
  stage.barrier(next());
  const auto& at_root = rank == root ? sums : own_numbers;
  fill(ground.own());
  stage.reduce(range, sum, root, next());
  expect(same(ground.own(), at_root, type, whole), "shared reduce");
  stage.barrier(next());
  fill(ground.own());
  std::vector<std::byte> used(bytes + 1);
  std::size_t at = mine.begin;
  stage.reduce_update(range, sum, next(), [&](const Slice& block, const std::byte* blocks_sums) {
    expect(block.begin == at, "blocks of reduce_update");
    at += block.count;
    std::memcpy(used.data() + block.begin * size_of(type), blocks_sums, block.count * size_of(type));
  });
  expect(at == mine.begin + mine.count && same(used.data(), sums, type, mine), "reduce_update");

  std::vector<std::byte> data = own_numbers;
  stage.all_reduce(data.data(), count, sum, next());
  expect(same(data.data(), sums, type, whole), "private all_reduce");
  data = own_numbers;
  stage.reduce_scatter(data.data(), count, sum, next());
  expect(same(data.data(), sums, type, mine), "private reduce_scatter");
  stage.all_gather(data.data(), count, type, next());
  expect(same(data.data(), sums, type, whole), "private all_gather");
  data = own_numbers;
  stage.broadcast(data.data(), count, type, root, next());
  expect(same(data.data(), roots, type, whole), "private broadcast");
  data = own_numbers;
  stage.reduce(data.data(), count, sum, root, next());
  expect(same(data.data(), at_root, type, whole), "private reduce");
  data = own_numbers;
  stage.reduce_scatter(data.data(), count, sum, next());
  stage.gather(data.data(), count, type, root, next());
  expect(same(data.data(), sums, type, rank == root ? whole : mine), "private gather");
}

}  // namespace

TEST_CASE("slices are cut at lines and leave nothing out") {
  for (const int size : {1, 2, 3, 4, 7, 9}) {
    on_threads(size, [](NodeComm&) {});
    auto groups = ddl::make_thread_node_comms(size);
    std::vector<std::unique_ptr<NodeCollectives>> stages(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < stages.size(); ++r) {
      threads.emplace_back([&, r] { stages[r] = std::make_unique<NodeCollectives>(*groups[r], 30.0); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const DataType type : stage_types) {
      for (const std::size_t count : {0, 1, 15, 16, 17, 33, 4099, 1048577}) {
        CAPTURE(size);
        CAPTURE(count);
        std::size_t at = 0;
        std::size_t most = 0;
        std::size_t least = count;
        for (const auto& stage : stages) {
          const Slice slice = stage->slice(count, type);
          CHECK(slice.begin == at);
          if (slice.count != 0) CHECK(slice.begin * size_of(type) % 64 == 0);
          at += slice.count;
          most = std::max(most, slice.count);
          least = std::min(least, slice.count);
        }
        CHECK(at == count);
        CHECK((most - least) * size_of(type) < 128);  // a line, and what the last line lacks
      }
    }
  }
}

TEST_CASE("closed-form sums of all sizes, types and numbers of ranks") {
  constexpr std::size_t stride = sanitized ? 127 : 1;
  for (int size = 1; size <= 9; ++size) {
    CAPTURE(size);
    Complaints complaints;
    on_threads(size, [&](NodeComm& group) {
      NodeCollectives stage(group, 60.0);
      const NodeBuffer ground(group, 4099 * 8);
      std::uint64_t sequence = 0;
      std::vector<Known> all_known;
      for (const DataType type : stage_types) all_known.emplace_back(type, group.local_rank(), size, 4099);
      for (std::size_t i = 0; i <= 4099; i += stride) {
        // Many ranks on few cores take their time: of their sizes each is summed in one type.
        for (std::size_t t = 0; t < all_known.size(); ++t) {
          if (size <= 4 || i % all_known.size() == t) {
            check_sums(stage, ground, i, all_known[t], sequence, complaints);
          }
        }
        if (i % 64 != 3 && i >= 20) continue;
        for (const DataType type : stage_types)
          check_all(group, stage, ground, i, type, sequence, complaints);
      }
    });
    CHECK(complaints.all() == "");
  }
}

TEST_CASE("closed-form sums of about 2^20") {
  for (const int size : {1, 2, 3, 4, 9}) {
    CAPTURE(size);
    Complaints complaints;
    on_threads(size, [&](NodeComm& group) {
      NodeCollectives stage(group, 60.0);
      const NodeBuffer ground(group, ((1 << 20) + 1) * 8);
      std::uint64_t sequence = 0;
      for (const DataType type : stage_types) {
        for (const std::size_t count : {(1U << 20) - 1, (1U << 20) + 1}) {
          if ((size == 9 || sanitized) && type != DataType::float32) continue;
          check_all(group, stage, ground, count, type, sequence, complaints);
        }
      }
    });
    CHECK(complaints.all() == "");
  }
}

TEST_CASE("the same bits on all ranks: additions in the order of the ranks") {
  constexpr int size = 5;
  constexpr std::size_t count = 70000;
  std::vector<float> expected(count);
  const auto number = [](int rank, std::size_t i) {
    return std::ldexp(1.0F + static_cast<float>(i % 1013) / 1013.0F,
                      (rank * 7 + static_cast<int>(i)) % 20 - 10);
  };
  for (std::size_t i = 0; i < count; ++i) {
    float sum = number(0, i);
    for (int rank = 1; rank < size; ++rank) sum += number(rank, i);
    expected[i] = sum;
  }
  Complaints complaints;
  on_threads(size, [&](NodeComm& group) {
    NodeCollectives stage(group, 60.0);
    const NodeBuffer ground(group, count * 4);
    auto* own = reinterpret_cast<float*>(ground.own());
    for (std::uint64_t round = 0; round < 3; ++round) {
      std::vector<float> data(count);
      for (std::size_t i = 0; i < count; ++i) own[i] = data[i] = number(group.local_rank(), i);
      stage.all_reduce(ground.range(count, DataType::float32), {}, {round, 0});
      if (std::memcmp(own, expected.data(), count * 4) != 0) complaints.add("shared");
      stage.all_reduce(reinterpret_cast<std::byte*>(data.data()), count, {}, {round, 1});
      if (data != expected) complaints.add("private");
    }
  });
  CHECK(complaints.all() == "");
}

TEST_CASE("an average over all ranks, also when this host has one of them") {
  Complaints complaints;
  for (const int size : {1, 4}) {
    on_threads(size, [&](NodeComm& group) {
      NodeCollectives stage(group, 60.0);
      std::vector<float> data(1000, 6.0F);
      stage.all_reduce(reinterpret_cast<std::byte*>(data.data()), data.size(),
                       {DataType::float32, Operation::average, 0.5 / group.local_size()}, {1, 1});
      if (data != std::vector<float>(1000, 3.0F)) complaints.add(std::to_string(size));
    });
  }
  CHECK(complaints.all() == "");
}

TEST_SUITE_END();
