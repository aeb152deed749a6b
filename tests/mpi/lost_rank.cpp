// SPDX-License-Identifier: MIT
// lost_rank FATE [COUNT]: ranks add up; in the 20th sum rank 1 meets its fate: stop, kill, leave (by
// _exit), exit, return (from main), throw (of its own), shape or type; keep: memory outlives all ranks'
// Contexts. The others print their errors and after how many seconds. With STALL=1 they also print which
// ranks they wait for, and stay a little: MPI ends a rank that has a connection to one that has ended.
#include "ddl/ddl.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void rendezvous(const std::string& fate, ddl::Context& ddl) {
  std::vector<float> odd(999, 1.0F);
  std::vector<std::int32_t> whole(1000, 1);
  if (fate == "stop") std::raise(SIGSTOP);
  if (fate == "kill") std::raise(SIGKILL);
  if (fate == "leave") std::_Exit(0);
  if (fate == "exit") std::exit(0);
  if (fate == "throw") throw std::runtime_error("cannot open part-1.bin");
  if (fate == "shape") ddl.all_reduce(ddl::tensor(std::span(odd), "conv1"), ddl::Operation::sum);
  if (fate == "type") ddl.all_reduce(ddl::tensor(std::span(whole), "conv1"), ddl::Operation::sum);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string fate = argc > 1 ? argv[1] : "";
  std::chrono::steady_clock::time_point start;
  try {
    ddl::Options options;
    options.timeout_seconds = 4;
    if (std::getenv("STALL") != nullptr) {
      options.stall = {1.0, [](const ddl::Stall& stall) {
                         std::fprintf(stderr, "stall: %s; %s\n", stall.missing[0].c_str(),
                                      stall.seen.c_str());
                       }};
    }
    ddl::Context ddl(argc, argv, options);
    static ddl::Buffer<float> kept;  // longer than its Context
    if (fate == "keep") kept = ddl.allocate<float>(1000);
    std::vector<float> values(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000, 1.0F);
    for (int i = 0; i < 40; ++i) {
      start = std::chrono::steady_clock::now();
      if (i == 20 && ddl.rank() == 1 && fate == "return") return 0;
      if (i == 20 && ddl.rank() == 1) rendezvous(fate, ddl);
      ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), ddl::Operation::max);
    }
    std::printf("all sums are made\n");
  } catch (const ddl::Error& error) {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "reported after %.1f s: %s\n  at:  %s\n  try: %s\n", waited.count(), error.what(),
                 error.where().c_str(), error.hint().c_str());
    std::fflush(stderr);
    if (std::getenv("STALL") != nullptr) std::this_thread::sleep_for(std::chrono::seconds(5));
    // The Context of the rank that throws ends before its message is printed, and mpirun kills it when
    // another rank ends.
    if (fate == "throw") std::this_thread::sleep_for(std::chrono::seconds(1));
    std::_Exit(1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "says itself: %s\n", error.what());
    return 1;
  }
}
