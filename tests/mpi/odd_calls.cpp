// SPDX-License-Identifier: MIT
// odd_calls FIRST SECOND: rank 1 does SECOND while the others do FIRST: sum, max, sums (all_reduce_n), maxes,
// root0 (broadcast), own (broadcast, each rank its own root), reduce, gather0, scatter (each rank its own
// root), barrier, refused (a broadcast that is refused, then a barrier), allocate, more (1 element more),
// weights (allocate_for_host), away (for 5 s), leave, again (a Context after the end of the first). Each
// reports what it was reported, after how many seconds.
#include "ddl/ddl.hpp"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

using SteadyClock = std::chrono::steady_clock;

ddl::Options options() {
  ddl::Options options;
  options.timeout_seconds = 3;
  return options;
}

void call(ddl::Context& ddl, const std::string& what) {
  std::vector<float> values(1000, 1.0F);
  if (what == "sum") ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), ddl::Operation::sum);
  const ddl::Tensor tensor = ddl::tensor(values, "conv1");
  if (what == "max") ddl.all_reduce(tensor, ddl::Operation::max);
  if (what == "sums") ddl.all_reduce_n(std::span(&tensor, 1), ddl::Operation::sum);
  if (what == "maxes") ddl.all_reduce_n(std::span(&tensor, 1), ddl::Operation::max);
  if (what == "root0") ddl.broadcast(tensor, 0);
  if (what == "own") ddl.broadcast(tensor, ddl.rank());
  if (what == "reduce") ddl.reduce(tensor, ddl::Operation::sum, ddl.rank());
  std::vector<float> all(1000 * static_cast<std::size_t>(ddl.size()));
  if (what == "gather0") ddl.gather(tensor, ddl::tensor(all), 0);
  if (what == "scatter") ddl.scatter(ddl::tensor(all), tensor, ddl.rank());
  if (what == "refused") {
    try {
      ddl.broadcast(tensor, ddl.size());
      std::printf("an invalid root was not refused\n");
    } catch (const ddl::Error&) {
    }
  }
  if (what == "barrier" || what == "refused") ddl.barrier();
  if (what == "more") ddl.allocate<float>(101)[100] = 1.0F;
  if (what == "allocate") ddl.allocate<float>(100)[99] = 1.0F;
  if (what == "weights") ddl.allocate_for_host<float>(100)[99] = 1.0F;
  if (what == "away") std::this_thread::sleep_for(std::chrono::seconds(5));
}

int work(int argc, char** argv, SteadyClock::time_point& start) {
  std::string what;
  {
    ddl::Context ddl(argc, argv, options());
    start = SteadyClock::now();
    what = argv[ddl.rank() == 1 ? 2 : 1];
    call(ddl, what);
  }
  if (what == "again") ddl::Context(argc, argv, options()).barrier();
  std::printf("%s is done\n", what.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  SteadyClock::time_point start;
  try {
    return work(argc, argv, start);
  } catch (const ddl::Error& error) {
    const std::chrono::duration<double> waited = SteadyClock::now() - start;
    std::fprintf(stderr, "reported after %.0f s: %s\n  at:  %s\n  try: %s\n", waited.count(), error.what(),
                 error.where().c_str(), error.hint().c_str());
    std::this_thread::sleep_for(std::chrono::seconds(1));  // mpirun ends the others when the first one ends
    return 1;
  }
}
