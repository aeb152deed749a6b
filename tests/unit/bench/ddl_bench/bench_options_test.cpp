// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/bench_options.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("bench/ddl_bench/bench_options");

using namespace ddlrun;
using namespace ddlrun::ddl_bench;

TEST_CASE("sizes") {
  struct Row {
    std::string text;
    std::size_t unit;
    std::vector<std::size_t> sizes;
  };
  for (const Row& row :
       {Row{"4:256", 4, {4, 16, 64, 256}}, Row{"4:255", 4, {}},  // 255 bytes are no floats
        Row{"64k,1M", 4, {65536, 1048576}}, Row{"8:128,1K,2G", 8, {8, 32, 128, 1024, 2147483648}},
        Row{"3", 1, {3}}, Row{"16G", 4, {17179869184}}, Row{"4:4", 4, {4}}, Row{"", 4, {}}, Row{"0", 4, {}},
        Row{"5", 4, {}}, Row{"17G", 4, {}}, Row{"99999999999999999999k", 4, {}}, Row{"1M:64k", 4, {}},
        Row{"64kB", 4, {}}, Row{"-4", 4, {}}, Row{"4,,8", 4, {}}, Row{"4:", 4, {}}, Row{"k", 4, {}}}) {
    CAPTURE(row.text);
    if (row.sizes.empty())
      CHECK_THROWS_AS(parse_sizes(row.text, row.unit), Error);
    else
      CHECK(parse_sizes(row.text, row.unit) == row.sizes);
  }
  CHECK(parse_sizes("4:256M", 4).size() == 14);
  CHECK(render_size(268435456) == "256M");
  CHECK(render_size(1536) == "1536");
  CHECK(render_size(65536) == "64k");
}

TEST_CASE("options that are read") {
  const std::vector<std::string> words = {"--sizes=8,16", "--backends", "mpi,ddl", "--type", "float64",
                                          "--seconds",    "0.5",        "--check", "--json", "-"};
  const BenchOptions options = parse_bench_options(words);
  CHECK(options.sizes == std::vector<std::size_t>{8, 16});
  CHECK(options.backends == std::vector<std::string>{"mpi", "ddl"});
  CHECK(options.type == ddl::DataType::float64);
  CHECK(options.seconds == 0.5);
  CHECK(options.check);
  CHECK(options.json == "-");
  CHECK(parse_bench_options(std::vector<std::string>{"--type", "float64"}).sizes.front() == 16);
}

TEST_CASE("options that are refused say what to type") {
  struct Row {
    std::vector<std::string> words;
    std::string what, hint;
  };
  for (const Row& row : {Row{{"--size", "4"}, "did you mean --sizes?", "ddl-bench allreduce --help"},
                         Row{{"--sizes"}, "--sizes needs a value", "--sizes SIZES"},
                         Row{{"--sizes", "6"}, "6 bytes are no whole number of elements of 4", "--sizes 8"},
                         Row{{"--sizes", "4", "--type", "float64"}, "elements of 8 bytes", "--sizes 8"},
                         Row{{"--backends", "mpl"}, "'mpl' is not a backend", "--backends mpi"},
                         Row{{"--type", "float23"}, "unknown type 'float23'", "--type float32"},
                         Row{{"--seconds", "0"}, "'0' is no time", "--seconds 0.3"},
                         Row{{"--seconds", "nan"}, "'nan' is no time", "--seconds 0.3"},
                         Row{{"--check=1"}, "--check takes no value", "--check"}}) {
    CAPTURE(row.words);
    try {
      parse_bench_options(row.words);
      FAIL("taken");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      CHECK(error.message().what.find(row.what) != std::string::npos);
      CHECK(error.message().hint.find(row.hint) != std::string::npos);
    }
  }
}

TEST_SUITE_END();
