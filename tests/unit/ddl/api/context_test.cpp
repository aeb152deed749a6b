// SPDX-License-Identifier: MIT
// libddl as its users see it, with threads for ranks on several hosts; sums against closed forms.
#include "ddl/ddl.hpp"
#include "tests/support/thread_contexts.hpp"
#include "tests/unit/ddl/api/placements.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

TEST_SUITE_BEGIN("ddl/api/context");

namespace {

using ddl::Context;
using ddl::Operation;
using ddl::Options;
using ddl::tests::element;
using ddl::tests::interleaved_hosts;
using ddl::tests::packed_hosts;
using ddl::tests::Placement;
using ddl::tests::placements;
using ddl::tests::run_contexts;
using ddl::tests::sum_of_factors;
using ddl::tests::with_dims;
using ddl::tests::Wrong;

std::vector<std::size_t> sizes() { return {0, 1, 2, 3, 15, 16, 17, 63, 1000, 4099, 70000, 300001}; }

}  // namespace

TEST_CASE("all_reduce: in shared and in private memory, sum, average and maximum, for any placement") {
  for (const Placement& placement : placements()) {
    for (const std::string mode : {"b", "r"}) {
      CAPTURE(placement.dims);
      CAPTURE(placement.hosts.size());
      CAPTURE(mode);
      Wrong wrong;
      Options options;
      options.mode = static_cast<ddl::Mode>(mode[0]);
      options.dims = placement.dims;
      run_contexts(placement.hosts, options, [&](Context& ddl) {
        const double factors = sum_of_factors(ddl.size());
        for (const std::size_t count : sizes()) {
          const ddl::Buffer<float> shared = ddl.allocate<float>(count);
          std::vector<float> own(count);
          for (std::size_t i = 0; i < count; ++i) shared[i] = own[i] = element(ddl.rank(), i);
          ddl.all_reduce(shared, Operation::sum);
          ddl.all_reduce(ddl::tensor(std::span(own)), Operation::average);
          for (std::size_t i = 0; i < count; ++i) {
            wrong.unless(static_cast<double>(shared[i]) == factors * static_cast<double>(i % 1000 + 1));
            const double average = factors * static_cast<double>(i % 1000 + 1) / ddl.size();
            wrong.unless(std::abs(static_cast<double>(own[i]) - average) <= 1e-6 * average);
          }
          for (std::size_t i = 0; i < count; ++i) own[i] = element(ddl.rank(), i);
          ddl.all_reduce(ddl::tensor(std::span(own)), Operation::max);
          for (std::size_t i = 0; i < count; ++i) wrong.unless(own[i] == element(ddl.size() - 1, i));
        }
      });
      CHECK(wrong.values == 0);
    }
  }
}

TEST_CASE("broadcast from every rank, reduce_scatter, all_gather, barrier") {
  for (const Placement& placement : placements()) {
    CAPTURE(placement.dims);
    CAPTURE(placement.hosts.size());
    Wrong wrong;
    run_contexts(placement.hosts, with_dims(placement.dims), [&](Context& ddl) {
      const auto ranks = static_cast<std::size_t>(ddl.size());
      for (int root = 0; root < ddl.size(); ++root) {
        const ddl::Buffer<float> shared = ddl.allocate<float>(1001);
        std::vector<std::int32_t> own(70001, ddl.rank());
        for (std::size_t i = 0; i < 1001; ++i) shared[i] = element(ddl.rank(), i);
        ddl.broadcast(shared, root);
        ddl.broadcast(ddl::tensor(std::span(own)), root);
        for (std::size_t i = 0; i < 1001; ++i) wrong.unless(shared[i] == element(root, i));
        for (const auto value : own) wrong.unless(value == root);
      }
      for (const std::size_t part : {std::size_t{1}, std::size_t{37}, std::size_t{20000}}) {
        std::vector<float> in(part * ranks);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = element(ddl.rank(), i);
        std::vector<float> mine(part);
        std::vector<float> all(part * ranks);
        ddl.reduce_scatter(ddl::tensor(std::span(in)), ddl::tensor(std::span(mine)), Operation::sum);
        ddl.barrier();
        ddl.all_gather(ddl::tensor(std::span(mine)), ddl::tensor(std::span(all)));
        for (std::size_t i = 0; i < all.size(); ++i)
          wrong.unless(static_cast<double>(all[i]) ==
                       sum_of_factors(ddl.size()) * static_cast<double>(i % 1000 + 1));
        // In place: each rank's part lies where the result will have it.
        const auto first = static_cast<std::size_t>(ddl.rank()) * part;
        std::vector<float> whole(part * ranks, -1.0F);
        for (std::size_t i = 0; i < part; ++i) whole[first + i] = element(ddl.rank(), i);
        ddl.all_gather(std::span(whole).subspan(first, part), whole);
        for (std::size_t i = 0; i < whole.size(); ++i)
          wrong.unless(whole[i] == element(static_cast<int>(i / part), i % part));
      }
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("many tensors in one call") {
  for (const Placement& placement : placements()) {
    Wrong wrong;
    run_contexts(placement.hosts, with_dims(placement.dims), [&](Context& ddl) {
      std::vector<std::vector<float>> tensors;
      for (const std::size_t count : {3U, 100000U, 0U, 17U, 64U, 20000U}) {
        tensors.emplace_back(count);
        for (std::size_t i = 0; i < count; ++i) tensors.back()[i] = element(ddl.rank(), i + count);
      }
      std::vector<std::int32_t> whole(7, 2);
      std::vector<ddl::Tensor> all;
      for (auto& each : tensors) all.push_back(ddl::tensor(std::span(each)));
      all.push_back(ddl::tensor(std::span(whole)));
      ddl.all_reduce_n(all, Operation::sum);
      for (const auto& each : tensors) {
        for (std::size_t i = 0; i < each.size(); ++i)
          wrong.unless(static_cast<double>(each[i]) ==
                       sum_of_factors(ddl.size()) * static_cast<double>((i + each.size()) % 1000 + 1));
      }
      for (const auto value : whole) wrong.unless(value == 2 * ddl.size());
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("sums that are started are done in order beside the caller's work") {
  for (const Placement& placement : placements()) {
    Wrong wrong;
    run_contexts(placement.hosts, with_dims(placement.dims), [&](Context& ddl) {
      const ddl::Buffer<float> values = ddl.allocate<float>(10 * 1000);
      std::vector<ddl::Handle> handles;
      for (std::size_t bucket = 10; bucket-- > 0;) {
        for (std::size_t i = 0; i < 1000; ++i) values[bucket * 1000 + i] = element(ddl.rank(), i);
        handles.push_back(ddl.start_all_reduce(values.range(bucket * 1000, 1000), Operation::sum));
      }
      std::vector<float> beside(10, 1.0F);
      ddl.all_reduce(ddl::tensor(std::span(beside)), Operation::sum);  // waits for its turn
      for (const auto& handle : handles) wrong.unless(handle.done());
      for (auto& handle : handles) handle.wait();
      for (std::size_t i = 0; i < values.size(); ++i)
        wrong.unless(static_cast<double>(values[i]) ==
                     sum_of_factors(ddl.size()) * static_cast<double>(i % 1000 + 1));
      for (const float value : beside) wrong.unless(value == static_cast<float>(ddl.size()));
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("start(): a program's own sequence of calls runs on the communication thread") {
  for (const Placement& placement : placements()) {
    CAPTURE(placement.hosts.size());
    Wrong wrong;
    run_contexts(placement.hosts, with_dims(placement.dims), [&](Context& ddl) {
      std::vector<float> first(1000, 1.0F), second(7, 2.0F), third(5, 3.0F);
      const auto own_thread = std::this_thread::get_id();
      std::thread::id calls_thread;
      ddl::Handle both = ddl.start([&] {
        calls_thread = std::this_thread::get_id();
        ddl.all_reduce(ddl::tensor(std::span(first)), Operation::sum);
        ddl.all_reduce(ddl::tensor(std::span(second)), Operation::sum);
        wrong.unless(ddl.gather("x").size() == static_cast<std::size_t>(ddl.size()));
      });
      ddl::Handle after = ddl.start_all_reduce(ddl::tensor(std::span(third)), Operation::sum);
      after.wait();
      wrong.unless(both.done());
      both.wait();
      ddl.barrier();
      const auto ranks = static_cast<float>(ddl.size());
      for (const float value : first) wrong.unless(value == ranks);
      for (const float value : second) wrong.unless(value == 2 * ranks);
      for (const float value : third) wrong.unless(value == 3 * ranks);
      wrong.unless(calls_thread != own_thread);
      // An exception of the program's own does not end the Context.
      ddl::Handle failed = ddl.start([] { throw std::runtime_error("mine"); });
      try {
        failed.wait();
        wrong.unless(false);
      } catch (const std::runtime_error&) {
      }
      ddl.barrier();
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("a Handle that ends without wait() completes its sum before the vector ends") {
  for (const Placement& placement : placements()) {
    CAPTURE(placement.hosts.size());
    Wrong wrong;
    run_contexts(placement.hosts, with_dims(placement.dims), [&](Context& ddl) {
      for (int i = 0; i < 3; ++i) {
        std::vector<float> forgotten(100000, 1.0F);
        { const ddl::Handle sum = ddl.start_all_reduce(forgotten, Operation::sum); }
        wrong.unless(forgotten.front() == static_cast<float>(ddl.size()));
        wrong.unless(forgotten.back() == static_cast<float>(ddl.size()));
      }
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("one update a host: every element is given once on each host, with its sum") {
  for (const Placement& placement : placements()) {
    CAPTURE(placement.hosts.size());
    Wrong wrong;
    run_contexts(placement.hosts, with_dims(placement.dims), [&](Context& ddl) {
      constexpr std::size_t count = 100003;
      const ddl::Buffer<float> gradient = ddl.allocate<float>(count);
      const ddl::Buffer<float> weights = ddl.allocate_for_host<float>(count);
      std::vector<float> own(count);
      for (std::size_t i = 0; i < count; ++i) own[i] = gradient[i] = element(ddl.rank(), i);
      const auto add = [&](std::size_t first, std::size_t n, const std::byte* sums) {
        const auto* values = reinterpret_cast<const float*>(sums);
        for (std::size_t i = 0; i < n; ++i) weights[first + i] += values[i];
      };
      ddl.all_reduce_update(gradient, Operation::sum, add);
      ddl.start_all_reduce_update(ddl::tensor(std::span(own)), Operation::sum, add).wait();
      ddl.barrier();
      for (std::size_t i = 0; i < count; ++i)
        wrong.unless(static_cast<double>(weights[i]) ==
                     2 * sum_of_factors(ddl.size()) * static_cast<double>(i % 1000 + 1));
      ddl.barrier();
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("mode p tries all ways, agrees, and stays right") {
  Wrong wrong;
  Options options;
  options.mode = ddl::Mode::explore;
  run_contexts(packed_hosts(2, 2), options, [&](Context& ddl) {
    for (int i = 0; i < 30; ++i) {
      std::vector<float> values(5000, static_cast<float>(ddl.rank() + 1));
      ddl.all_reduce(ddl::tensor(std::span(values)), Operation::sum);
      for (const float value : values) wrong.unless(value == 10.0F);
    }
  });
  CHECK(wrong.values == 0);
}

TEST_CASE("who and where") {
  std::mutex mutex;
  std::set<std::string> seen;
  run_contexts(interleaved_hosts(2, 2), with_dims("2x2x1"), [&](Context& ddl) {
    const std::lock_guard lock(mutex);
    seen.insert(ddl.name_of(ddl.rank()) + " local " + std::to_string(ddl.local_rank()) + "/" +
                std::to_string(ddl.local_size()) + " host " + std::to_string(ddl.host()) + "/" +
                std::to_string(ddl.hosts()) + " " + ddl.dims() + " " + ddl.device());
  });
  CHECK(seen == std::set<std::string>{
                    "rank 0 (h0) local 0/2 host 0/2 2x2x1 cpu", "rank 1 (h1) local 0/2 host 1/2 2x2x1 cpu",
                    "rank 2 (h0) local 1/2 host 0/2 2x2x1 cpu", "rank 3 (h1) local 1/2 host 1/2 2x2x1 cpu"});
}

TEST_CASE("an average in float16 holds what a host's sum would not") {
  for (const auto& [dims, hosts] : placements()) {
    if (hosts.size() == 3 && hosts[0] == "h0" && hosts[1] == "h1") continue;  // uneven: one wire of all
    CAPTURE(dims);
    Wrong wrong;
    run_contexts(hosts, with_dims(dims), [&](Context& ddl) {
      std::vector<ddl::Float16> own(5000);
      for (ddl::Float16& value : own) value.bits = 0x7b53;  // 60,000
      auto shared = ddl.allocate<ddl::Float16>(5000);
      std::copy(own.begin(), own.end(), shared.values().begin());
      ddl.all_reduce(ddl::tensor(std::span(own)), Operation::average);
      ddl.all_reduce(ddl::tensor(shared.values()), Operation::average);
      for (std::size_t i = 0; i < own.size(); ++i) {
        wrong.unless(own[i].bits == 0x7b53);
        wrong.unless(shared.values()[i].bits == 0x7b53);
      }
    });
    CHECK(wrong.values == 0);
  }
}

TEST_CASE("agree: the first tensor that differs is named with its rank") {
  struct Row {
    std::vector<std::pair<std::string, std::size_t>> first;
    std::vector<std::pair<std::string, std::size_t>> second;
    std::string says;
  };
  const std::vector<Row> rows = {
      {{{"conv1", 500}, {"fc", 10}}, {{"conv1", 500}, {"fc", 10}}, ""},
      {{{"conv1", 500}, {"fc", 10}},
       {{"conv1", 500}, {"fc", 11}},
       "tensor 1 is \"fc\" of 10 float32 on rank 0 (h0) and \"fc\" of 11 float32 on rank 1 (h1)"},
      {{{"conv1", 500}, {"fc", 10}},
       {{"conv1", 500}},
       "tensor 1 is \"fc\" of 10 float32 on rank 0 (h0) and none on rank 1 (h1)"}};
  for (const Row& row : rows) {
    std::atomic<int> reported = 0;
    run_contexts(packed_hosts(2, 1), {}, [&](Context& ddl) {
      std::vector<ddl::Tensor> tensors;
      for (const auto& [name, count] : ddl.rank() == 0 ? row.first : row.second)
        tensors.push_back({nullptr, count, ddl::DataType::float32, name});
      std::string what;
      try {
        ddl.verify_tensors(tensors);
      } catch (const ddl::Error& error) {
        what = error.what();
      }
      if (what.find(row.says) != std::string::npos && what.empty() == row.says.empty()) ++reported;
    });
    CHECK(reported == 2);
  }
}

TEST_CASE("options of PowerAI DDL") {
  struct Row {
    std::string text;
    ddl::Mode mode;
    std::string dims;
    int dev_sync;
    std::uint64_t dump;
  };
  // The first three stand in PowerAI DDL's documents.
  for (const Row& row : std::vector<Row>{{"-mode b:4x2x1 -dev_sync 1", ddl::Mode::best, "4x2x1", 1, 0},
                                         {"-mode n:4x1x1 -dev_sync 1", ddl::Mode::nccl, "4x1x1", 1, 0},
                                         {"-mode r:2 -dump_iter 100", ddl::Mode::ring, "2", 0, 100},
                                         {"", ddl::Mode::best, "", 0, 0},
                                         {"-mode p", ddl::Mode::explore, "", 0, 0}}) {
    CAPTURE(row.text);
    const Options options = ddl::parse_options(row.text);
    CHECK(options.mode == row.mode);
    CHECK(options.dims == row.dims);
    CHECK(options.dev_sync == row.dev_sync);
    CHECK(options.dump_every == row.dump);
    CHECK_FALSE(options.nccl_levels);
  }
  for (const std::string text :
       {"-mode x:4", "-mode b4", "-mode b:", "-mode", "-dev_sync 3", "-dump_iter many", "-fast 1",
        "-wire int32", "-nccl some", "-timeout 0", "-dump_iter -1"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(ddl::parse_options(text), ddl::Error);
  }
  CHECK(ddl::parse_options("-wire bfloat16 -timeout 5").wire == ddl::DataType::bfloat16);
}

TEST_SUITE_END();
