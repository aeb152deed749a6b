// SPDX-License-Identifier: MIT
// By hand: alpha, beta and the messages of the algorithms in ddl/collectives/inter_node_pipeline.cpp.
#include "bench/predict/sum_model.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

namespace ddlrun::bench_predict {

TEST_SUITE_BEGIN("bench/predict/sum_model");

TEST_CASE("a small sum of 2 hosts: everything at once, 10 us + 4096 bytes at 1 GB/s") {
  const SumTime time = model_sum(4096, {{2}, 1}, {1e9, 10e-6, 1e-6});
  CHECK(time.wire_s == doctest::Approx(4.096e-6));
  CHECK(time.messages_s == doctest::Approx(2e-6));
  CHECK(time.total_s == doctest::Approx(14.096e-6));
}

TEST_CASE("a small sum of 16 hosts: Bruck's four steps, 15 blocks of 1 KiB") {
  const SumWork work = count_sum_work(1024, {{16}, 1});
  CHECK(work.stages == 4);
  CHECK(work.messages == 8);
  CHECK(work.bytes == 15 * 1024);
  CHECK(model_sum(1024, {{16}, 1}, {1e9, 10e-6, 1e-6}).total_s == doctest::Approx(55.36e-6));
}

TEST_CASE("4 MiB over 4 hosts: 32 chunks of 128 KiB, 3/4 of the vector twice, one latency") {
  const SumWork work = count_sum_work(4 << 20, {{4}, 1});
  CHECK(work.chunks == 32);
  CHECK(work.stages == 2);
  CHECK(work.bytes == 6291456);
  CHECK(work.messages == 32 * 12);
  CHECK(model_sum(4 << 20, {{4}, 1}, {1e8, 50e-6, 1e-6}).total_s == doctest::Approx(62.96456e-3));
}

TEST_CASE("64 KiB over 8 hosts: one chunk, so the gather waits for the scatter") {
  CHECK(model_sum(65536, {{8}, 1}, {1e9, 20e-6, 1e-6}).total_s == doctest::Approx(154.688e-6));
}

TEST_CASE("64 KiB over 32 hosts: one chunk by halving, log2 32 steps up and as many down") {
  const SumWork work = count_sum_work(65536, {{32}, 1});
  CHECK(work.chunks == 1);
  CHECK(work.stages == 10);
  CHECK(work.messages == 20);
  CHECK(work.bytes == 2 * 31 * 2048);
}

TEST_CASE("512 KiB over 64 hosts: steps of 1, 1, 1, 2, 4 and 8 messages of 32 KiB, each way in each half") {
  const SumWork work = count_sum_work(512 << 10, {{64}, 1});
  CHECK(work.chunks == 1);
  CHECK(work.messages == 4 * (1 + 1 + 1 + 2 + 4 + 8));
}

TEST_CASE("many messages: the core that sends them is slower than the wire") {
  // 384 messages of 1 ms each, and one latency.
  CHECK(model_sum(4 << 20, {{4}, 1}, {1e8, 50e-6, 1e-3}).total_s == doctest::Approx(0.38405));
}

TEST_CASE("racks: a quarter of each slice goes on between the racks, 4 ranks share the interface") {
  const SumWork work = count_sum_work(8 << 20, {{4, 2}, 4});
  CHECK(work.chunks == 16);
  CHECK(work.stages == 4);
  CHECK(work.bytes == 12582912 + 2097152);
  CHECK(work.messages == 16 * 12 + 16 * 4);
}

TEST_CASE("16 bits halve the bytes of a long vector only; levels of one host count for nothing") {
  CHECK(count_sum_work(4 << 20, {{4}, 1, true}).bytes == 3145728);
  CHECK(count_sum_work(4096, {{2}, 1, true}).bytes == 4096);
  CHECK(count_sum_work(4 << 20, {{1, 4}, 1}).bytes == 6291456);
  CHECK(model_sum(4 << 20, {{1}, 4}, {1e9, 1.0, 1.0}).total_s == 0.0);
}

TEST_CASE("a fit finds the network of sums that follow the model, and says how far others are from it") {
  const SumShape shape{{4}, 1};
  const Network network{2e8, 30e-6, 3e-6};
  std::vector<MeasuredSum> sums;
  for (const double bytes : {1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6})
    sums.push_back({bytes, model_sum(bytes, shape, network).total_s});
  const FittedNetwork exact = fit_network(sums, shape);
  CHECK(exact.network.bytes_per_second == doctest::Approx(2e8).epsilon(0.01));
  CHECK(exact.network.latency_s == doctest::Approx(30e-6).epsilon(0.05));
  CHECK(exact.error < 0.01);
  for (std::size_t i = 0; i < sums.size(); i += 2) sums[i].seconds *= 1.5;
  CHECK(fit_network(sums, shape).error > 0.1);
  sums.resize(2);
  CHECK_THROWS_AS(fit_network(sums, shape), Error);
}

TEST_CASE("a fit of sums between two hosts with busy cores, as measured: the long one is met") {
  const std::vector<MeasuredSum> sums = {{4096, 43.8e-6},     {16384, 596.4e-6},    {65536, 3566e-6},
                                         {262144, 3968.2e-6}, {1048576, 4665.9e-6}, {4194304, 11839e-6}};
  const FittedNetwork fitted = fit_network(sums, {{2}, 1});
  CHECK(model_sum(4194304, {{2}, 1}, fitted.network).total_s == doctest::Approx(11839e-6).epsilon(0.2));
  CHECK(fitted.error < 0.5);
}

TEST_SUITE_END();

}  // namespace ddlrun::bench_predict
