// SPDX-License-Identifier: MIT
#include "bench/against/sums_against.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using namespace ddlrun;
using namespace ddlrun::bench_against;

namespace {

// A document with one backend of each kind at 4 and 1,024 bytes; times in us.
std::string document(const std::string& mpi, const std::string& rows) {
  return R"({"schema":"ddl-bench.allreduce/1","version":"0","ranks":2,"hosts":1,"type":"float32","mpi":")" +
         mpi + R"(","sizes":[)" + rows + "]}\n";
}
std::string row(int bytes, double ddl, double own_memory, double mpi, int wrong = 0) {
  const auto backend = [](const std::string& name, double us, int bad) {
    return R"({"backend":")" + name + R"(","us_min":)" + std::to_string(us) + R"(,"wrong":)" +
           std::to_string(bad) + "}";
  };
  return R"({"bytes":)" + std::to_string(bytes) + R"(,"backends":[)" + backend("ddl", ddl, 0) + "," +
         backend("ddl-private", own_memory, 0) + "," + backend("mpi", mpi, wrong) + "," +
         backend("gloo", 100, 0) + "]}";
}

}  // namespace

TEST_SUITE("bench/against/sums_against") {
  TEST_CASE("each peer is compared with libddl in its own run, and the fastest peer counts") {
    // MPI A: 4 times libddl at 4 bytes, half at 1,024. MPI B ran on a busier machine: 2 and 3 times.
    const SumsOfRun a = parse_sums(document("A 1", row(4, 1, 2, 4) + "," + row(1024, 10, 20, 5)), "a");
    const SumsOfRun b = parse_sums(document("B 2", row(4, 2, 2, 4) + "," + row(1024, 20, 30, 60)), "b");
    const std::string table = render_against_table({a, b}, {"not measured: C 3"});
    CHECK(table.find("# 2 ranks on 1 host, sum of float32") == 0);
    CHECK(table.find("# not measured: C 3\n") != std::string::npos);
    CHECK(table.find(
              "#     bytes        ddl    private        A 1        B 2       gloo     x best  private x\n") !=
          std::string::npos);
    CHECK(table.find(
              "          4       1.00       2.00       4.00       4.00        100       2.00       2.00\n") !=
          std::string::npos);
    CHECK(table.find(
              "       1024       10.0       20.0       5.00       60.0        100       0.50       0.25\n") !=
          std::string::npos);
    CHECK(table.find("# all elements right\n"
                     "# libddl: 0.50 to 2.00 times as fast as the fastest peer; slower at 1024 bytes.\n"
                     "# libddl on any memory: 0.25 to 2.00 times as fast as the fastest peer; slower at 1024 "
                     "bytes.\n") != std::string::npos);
  }

  TEST_CASE("a second run of the same MPI keeps the fastest times, and counts all wrong elements") {
    SumsOfRun run = parse_sums(document("A 1", row(4, 3, 2, 4, 1)), "a");
    keep_fastest(run, parse_sums(document("A 1", row(4, 1, 5, 2, 2) + "," + row(8, 1, 1, 1)), "a"));
    CHECK(run.sizes.at(4).at("ddl") == doctest::Approx(1e-6));
    CHECK(run.sizes.at(4).at("ddl-private") == doctest::Approx(2e-6));
    CHECK(run.sizes.at(4).at("mpi") == doctest::Approx(2e-6));
    CHECK(run.sizes.count(8) == 1);
    CHECK(run.wrong == 3);
    CHECK(render_against_table({run}, {}).find("# 3 ELEMENTS WRONG\n") != std::string::npos);
  }

  TEST_CASE("a document is found behind a launcher's lines; its absence is an error") {
    CHECK(parse_sums("WARNING: something\n" + document("A 1", row(4, 1, 1, 1)), "a").mpi == "A 1");
    for (const char* text :
         {"", "{\"schema\":\"ddl-bench.allreduce/1\"", "{\"schema\":\"ddl-bench.allreduce/1\"}",
          "{\"schema\":\"ddl-bench.allreduce/1\",\"mpi\":7}\n"})
      CHECK_THROWS_AS(parse_sums(text, "x"), Error);
  }

  TEST_CASE("the JSON document holds the documents of all runs") {
    const SumsOfRun a = parse_sums(document("A 1", row(4, 1, 2, 4)), "a");
    const auto json = nlohmann::json::parse(render_against_json({a, a}, {"n"}));
    CHECK(json.at("schema") == "ddlrun.bench.against/1");
    CHECK(json.at("runs").size() == 2);
    CHECK(json.at("runs")[1].at("sizes")[0].at("backends")[2].at("us_min") == 4.0);
    CHECK(json.at("notes")[0] == "n");
  }
}
