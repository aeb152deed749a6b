// SPDX-License-Identifier: MIT
#include "base/os/standard_output.hpp"
#include "bench/ddl_bench/bench_command.hpp"

int main(int argc, char** argv) {
  return ddlrun::run_with_output("ddl-bench", [&] {
    return ddlrun::ddl_bench::run_bench_command({argv + (argc > 0 ? 1 : 0), argv + argc});
  });
}
