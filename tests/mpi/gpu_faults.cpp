// SPDX-License-Identifier: MIT
// gpu_faults WHAT: ranks add up in GPU memory; in the 20th sum rank 1 does WHAT: kill, stop, shape, memory,
// busy (its stream is late), late (but comes), none. Each reports its error, and after how long.
// FAKE_FATE: what happens inside NCCL. LINGER: and stays a little. STALL: reports who is waited for after a
// second.
#include "ddl/ddl.hpp"
#include "tests/support/gpu_numbers.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

namespace {

void rendezvous(const std::string& fate, ddl::Context& ddl, gpu_numbers::Device<float>& values) {
  std::vector<float> host(1000);
  if (fate == "kill") std::raise(SIGKILL);
  if (fate == "stop") std::raise(SIGSTOP);
  if (fate == "shape") ddl.all_reduce(ddl::device_tensor(values.data(), 999, "conv1"), ddl::Operation::sum);
  if (fate == "memory") ddl.all_reduce(ddl::tensor(std::span(host), "conv1"), ddl::Operation::sum);
  if (fate == "busy") values.fill(1, nullptr, 8000);
  if (fate == "late") values.fill(1, nullptr, 2000);
}

void print_stall(const ddl::Stall& stall) {
  std::string names;
  for (const std::string& name : stall.missing) names += name + ", ";
  std::fprintf(stderr, "%d %s %s%s (%s): %s\n", getpid(), stall.over ? "sees again" : "waits for",
               names.c_str(), stall.call.c_str(), stall.tensor.c_str(), stall.seen.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string fate = argc > 1 ? argv[1] : "none";
  std::chrono::steady_clock::time_point start;
  try {
    ddl::Options options;
    options.timeout_seconds = 3;
    if (std::getenv("STALL") != nullptr) options.stall = {1, print_stall};
    ddl::Context ddl(argc, argv, options);
    gpu_numbers::select_gpu(ddl.local_rank());
    gpu_numbers::Device<float> values(1000);
    for (int i = 0; i < 40; ++i) {
      start = std::chrono::steady_clock::now();
      if (i == 20 && ddl.rank() == 1) rendezvous(fate, ddl, values);
      ddl.all_reduce(ddl::device_tensor(values.data(), 1000, "conv1"), ddl::Operation::max);
    }
    std::printf("all sums are made\n");
  } catch (const ddl::Error& error) {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "reported after %.1f s: %s\n  at:  %s\n  try: %s\n", waited.count(), error.what(),
                 error.where().c_str(), error.hint().c_str());
    std::fflush(stderr);
    // mpirun ends all when the first one ends.
    if (std::getenv("LINGER") != nullptr) std::this_thread::sleep_for(std::chrono::seconds(5));
    std::_Exit(1);
  }
}
