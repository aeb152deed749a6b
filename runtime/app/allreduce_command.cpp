// SPDX-License-Identifier: MIT
#include "runtime/app/allreduce_command.hpp"

#include "base/text/error.hpp"
#include "runtime/app/option_references.hpp"
#include "runtime/comm/session.hpp"
#include "runtime/core/option_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace ddlrun::runtime {

namespace {

constexpr const char* allreduce_name = "ddl-train allreduce";

struct AllreduceOptions {
  std::uint64_t bytes = 4;
  std::uint64_t times = 1;
  bool help = false;
};

std::vector<Option> table_of(AllreduceOptions& options) {
  return {{"--bytes", "SIZE", "size of the vector of each rank, in bytes (default 4)",
           [&](const std::string& text) { options.bytes = parse_count("--bytes", text, 4, 1u << 30); }},
          {"--times", "N", "number of all-reduces (default 1)",
           [&](const std::string& text) { options.times = parse_count("--times", text, 1, 1'000'000); }},
          {"--help", "", "print this help", [&](const std::string&) { options.help = true; }}};
}

std::string render_allreduce_help(std::span<const Option> table) {
  return "Measures an all-reduce over all ranks and prints the result as one JSON document.\n\n"
         "usage: mpirun [MPIRUN_OPTIONS] ddl-train allreduce [OPTIONS]\n\n" +
         render_options(table) +
         "\nExample:\n  mpirun -n 2 ddl-train allreduce --bytes 1048576 --times 100\n";
}

void measure_sums(const AllreduceOptions& options, Communicator& ranks) {
  const std::vector<float> ones(options.bytes / sizeof(float), 1.0F);
  std::vector<float> sum(ones.size());
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < options.times; ++i) ranks.all_reduce_sum(ones, sum);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto wanted = static_cast<float>(ranks.size());  // exact up to 2^24 ranks
  const bool right = std::all_of(sum.begin(), sum.end(), [&](float value) { return value == wanted; });
  if (!right) {
    throw Error(ErrorKind::request,
                {fmt::format("the sum of {} ones is {}", ranks.size(), sum.front()), "MPI_Allreduce",
                 "another transport: mpirun --mca btl tcp,self --mca pml ob1"});
  }
  if (ranks.rank() != 0) return;
  fmt::print(
      "{{\"schema\":\"ddl-train.allreduce/1\",\"ranks\":{},\"bytes\":{},\"times\":{},\"seconds\":{:.9f}}}\n",
      ranks.size(), ones.size() * sizeof(float), options.times,
      seconds.count() / static_cast<double>(options.times));
}

}  // namespace

std::vector<OptionReference> describe_allreduce_options() {
  AllreduceOptions unused;
  return describe_options(table_of(unused));
}

int run_allreduce_command(const std::vector<std::string>& args) {
  AllreduceOptions options;
  std::optional<Error> options_error;
  try {
    const std::vector<Option> table = table_of(options);
    parse_options(allreduce_name, args, table);
    if (options.help) {
      if (launched_rank().value_or(0) == 0) fmt::print("{}", render_allreduce_help(table));
      return 0;
    }
  } catch (const Error& error) {
    options_error = error;
  }
  return run_session(allreduce_name, options_error,
                     [&](Communicator& ranks) { measure_sums(options, ranks); });
}

}  // namespace ddlrun::runtime
