// SPDX-License-Identifier: MIT
#include "bench/predict/quantities.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

namespace ddlrun::bench_predict {

TEST_SUITE_BEGIN("bench/predict/quantities");

TEST_CASE(
    "a line rate in bits carries 1448 of 1538 bytes; bytes are the payload; b is a bit and B is a byte") {
  CHECK(parse_bandwidth("1Gbit/s").value() == doctest::Approx(117685305.6));
  CHECK(parse_bandwidth("1000Mbit/s") == parse_bandwidth("1Gbit/s"));
  CHECK(parse_bandwidth("1Gb/s") == parse_bandwidth("1Gbps"));
  CHECK(parse_bandwidth("1.2GB/s").value() == doctest::Approx(1.2e9));
  CHECK(parse_bandwidth("1MiB/s").value() == doctest::Approx(1048576));
  for (const char* wrong :
       {"", "10", "Gbit/s", "10gbit/s", "-1GB/s", "0GB/s", "1.2.3GB/s", "1 GB/s", "nanGB/s"})
    CHECK_FALSE(parse_bandwidth(wrong).has_value());
}

TEST_CASE("times") {
  CHECK(parse_seconds("20us").value() == doctest::Approx(20e-6));
  CHECK(parse_seconds("1.5ms").value() == doctest::Approx(1.5e-3));
  CHECK(parse_seconds("800ns").value() == doctest::Approx(800e-9));
  CHECK(parse_seconds("0s").value() == 0.0);
  for (const char* wrong : {"", "20", "us", "20 us", "-1us", "20US"})
    CHECK_FALSE(parse_seconds(wrong).has_value());
}

TEST_CASE("a network: bandwidth and latency, and the time of a message where it is known") {
  const Network network = parse_network("1GB/s,20us,2us");
  CHECK(network.bytes_per_second == doctest::Approx(1e9));
  CHECK(network.latency_s == doctest::Approx(20e-6));
  CHECK(network.message_s == doctest::Approx(2e-6));
  CHECK(parse_network("1GB/s,20us").message_s == usual_message_s);
  for (const char* wrong : {"", "10Gbit/s", "20us,10Gbit/s", "10Gbit/s,20us,1us,1us", "10,20us", "1GB/s,20"})
    CHECK_THROWS_AS(parse_network(wrong), Error);
}

TEST_CASE("numbers of hosts: powers of two to the end of a range, or those of a list") {
  CHECK(parse_host_counts("1-256") == std::vector{1, 2, 4, 8, 16, 32, 64, 128, 256});
  CHECK(parse_host_counts("1-6") == std::vector{1, 2, 4, 6});
  CHECK(parse_host_counts("3-3") == std::vector{3});
  CHECK(parse_host_counts("12,1,4,4") == std::vector{1, 4, 12});
  for (const char* wrong : {"", "0", "4-1", "h1,h2", "1-", "-4", "1,,2", "2000000"})
    CHECK_THROWS_AS(parse_host_counts(wrong), Error);
}

TEST_SUITE_END();

}  // namespace ddlrun::bench_predict
