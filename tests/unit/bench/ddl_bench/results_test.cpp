// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/results.hpp"

#include "base/text/text.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

TEST_SUITE_BEGIN("bench/ddl_bench/results");

using namespace ddlrun::ddl_bench;

namespace {

SizeResult known_size() {
  BackendResult ddl{"ddl", {{"", {100e-6, 120e-6, 9}, 0}}, 80e-6};
  BackendResult mpi{
      "mpi", {{"in place", {900e-6, 950e-6, 9}, 0}, {"out of place", {400e-6, 990e-6, 9}, 3}}, {}};
  return {1 << 20, 1 << 18, {ddl, mpi}};
}

BenchFacts known_facts() {
  BenchFacts facts;
  facts.version = "1.2";
  facts.ranks = 4;
  facts.local_ranks = 4;
  facts.dims = "4x1";
  facts.seconds = 0.5;
  facts.mpi = "Some MPI";
  return facts;
}

}  // namespace

TEST_CASE("the name and number of an MPI are what its library prints first") {
  // Debian 12's Open MPI and MPICH, and Intel MPI 2021.18 of PyPI.
  CHECK(short_mpi_version("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo") ==
        "Open MPI 4.1.4");
  CHECK(short_mpi_version("MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7") == "MPICH 4.0.2");
  CHECK(short_mpi_version("Intel(R) MPI Library 2021.18 for Linux* OS\n") == "Intel(R) MPI Library 2021.18");
  CHECK(short_mpi_version("no MPI") == "no MPI");
}

TEST_CASE("times and bandwidths, as nccl-tests defines them") {
  CHECK(times_of({3, 1, 2})->median == 2);
  CHECK(times_of({4, 1, 2, 3})->median == 2.5);
  CHECK(times_of({4, 1, 2, 3})->least == 1);
  CHECK_FALSE(times_of({}).has_value());
  CHECK(alg_bandwidth(1'000'000'000, 0.5) == doctest::Approx(2.0));
  CHECK(bus_bandwidth(1'000'000'000, 0.5, 4) == doctest::Approx(3.0));  // x 2(4-1)/4
  CHECK(bus_bandwidth(1'000'000'000, 0.5, 1) == 0.0);
}

TEST_CASE("the time of a run, and of the rest of it where a size took longer") {
  const std::size_t sizes[] = {1024, 4096, 16384, 65536};
  const auto left = [&](const std::vector<MeasuredSize>& done) {
    return estimate_seconds(sizes, 1.5, done, 1.0);
  };
  CHECK(left({}) == doctest::Approx(6.0));
  CHECK(left({{1024, 1.2, 1e-5}, {4096, 1.2, 2e-5}}) == doctest::Approx(3.0));
  // Short calls fill the same time whatever their size: a busy machine takes longer for each.
  CHECK(left({{1024, 2.0, 1e-5}}) == doctest::Approx(6.0));
  // Nine calls take longer than the time: in proportion to the bytes, less what a call takes for none.
  CHECK(left({{1024, 4.5, 0.5}}) == doctest::Approx(4.5 * (4 + 16 + 64)));
  CHECK(left({{1024, 4.5, 0.5}, {4096, 9.0, 1.0}}) == doctest::Approx(9.0 * 3 + 9.0 * 11));
  CHECK(left({{1024, 9, 1}, {4096, 9, 1}, {16384, 9, 1}, {65536, 9, 1}}) == 0.0);
  const std::size_t far[] = {4096, 1 << 20, 16 << 20};
  const MeasuredSize short_one{4096, 2.0, 3e-5};
  CHECK(estimate_seconds(far, 1.8, {&short_one, 1}, 1.0) < 4.1);
  // Two hosts on a busy machine, where a call is latency alone: the rest took 34 s.
  BenchFacts facts = known_facts();
  facts.hosts = facts.local_ranks = 2;
  facts.link = LinkRate{117e6, 110e6};
  SizeResult first;
  for (int i = 0; i < 6; ++i) first.backends.push_back({"ddl", {CaseResult{}}, {}});
  const MeasuredSize slow{4096, 6.5, 0.25};
  const double rest = estimate_seconds(far, 1.8, {&slow, 1}, find_seconds_per_byte(facts, first));
  CHECK(rest > 20.0);
  CHECK(rest < 100.0);
  CHECK(render_start(1, 2, 0.2) == "ddl-bench: 1 size by 2 backends, about 1 s\n");
  CHECK(ddlrun::count_of(1, "rank") == "1 rank");
}

TEST_CASE("a row of the table") {
  const std::string rows = render_table_rows(known_facts(), known_size());
  CHECK(
      rows ==
      "    1048576     262144  float32  ddl               100       120    10.5    15.7     0   4.00      "
      "80.0      80  \n"
      "    1048576     262144  float32  mpi               400       990    2.62    3.93     3   1.00         "
      "-       -  out of place\n");
  const std::string head = render_table_head(known_facts());
  CHECK(head.find("4 ranks on 1 host (dims 4x1), sum of float32") != std::string::npos);
  const std::size_t units = head.rfind('\n', head.size() - 2) + 1;
  const std::string titles = head.substr(head.rfind('\n', units - 2) + 1);
  CHECK(titles.find("busbw") == rows.find("15.7") - 1);  // columns end where their titles do
  CHECK(head.substr(units).rfind("(GB/s)") == rows.find("15.7") - 2);
  CHECK(
      render_table_foot(known_facts(), {known_size()}) ==
      "# 3 ELEMENTS WRONG\n"
      "# libddl sums 1 MiB in 100 us, 4.00 times as fast as MPI_Allreduce; a plain pass over the same bytes "
      "takes 80.0 us.\n");
  BenchFacts hosts = known_facts();
  hosts.hosts = 2;
  hosts.link = LinkRate{117.1e6, 110e6};
  CHECK(render_table_head(hosts).find("117 MB/s one way, 110 MB/s each way in both") != std::string::npos);
  CHECK(render_table_foot(hosts, {}).find("--mca coll_han_priority 100") != std::string::npos);
}

TEST_CASE("the document") {
  const auto json = nlohmann::json::parse(render_results_json(known_facts(), {known_size()}));
  CHECK(json["schema"] == "ddl-bench.allreduce/1");
  CHECK(json["link"].is_null());
  const auto& backends = json["sizes"][0]["backends"];
  CHECK(backends[0]["times_mpi"] == 4.0);
  CHECK(backends[0]["percent_of_limit"] == 80.0);
  CHECK(backends[1]["how"] == "out of place");
  CHECK(backends[1]["wrong"] == 3);
  CHECK(backends[1]["cases"].size() == 2);
  CHECK(backends[1]["limit_us"].is_null());
}

TEST_SUITE_END();
