// SPDX-License-Identifier: MIT
// The sums of ddl/kernels.hpp beside memcpy and a += b over the same number of bytes, in turn, in one run:
// how near they come to what memory gives. Arguments: instruction sets (avx512, avx2, scalar), kB of a
// vector.
#include "ddl/core/kernel_choice.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

#if defined(__x86_64__) && !defined(__clang__)
#define WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("O3")))
#else
#define WIDEST
#endif

WIDEST void add_to(float* __restrict a, const float* __restrict b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
}

WIDEST void touch(float* __restrict a, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] *= 0.99f;
}

// Whole pages, huge ones where the kernel gives them, as shared windows are.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    std::memset(data_, 0, bytes);
  }
  ~Memory() { munmap(data_, bytes_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::byte* part(std::size_t at) const { return static_cast<std::byte*>(data_) + at; }

 private:
  void* data_;
  std::size_t bytes_;
};

struct Times {
  double best, median;
};

// Work of one thread: (thread, threads).
using Work = std::function<void(std::size_t, std::size_t)>;

class Race {
 public:
  explicit Race(std::size_t threads) : threads_(threads) {}

  // Seconds of one pass of `work` by all threads, the best and the median of many, each contestant in turn.
  std::vector<Times> run(const std::vector<Work>& contestants, std::size_t passes, std::size_t rounds) const {
    std::vector<std::vector<double>> seconds(contestants.size());
    for (std::size_t round = 0; round < rounds; ++round)
      for (std::size_t c = 0; c < contestants.size(); ++c)
        seconds[c].push_back(measure(contestants[c], passes));
    std::vector<Times> times;
    for (auto& row : seconds) {
      std::sort(row.begin(), row.end());
      times.push_back({row.front(), row[row.size() / 2]});
    }
    return times;
  }

 private:
  double measure(const Work& work, std::size_t passes) const {
    std::vector<double> spent(threads_);
    std::atomic<std::size_t> ready = 0;
    std::vector<std::jthread> threads;
    const auto body = [&](std::size_t thread) {
      cpu_set_t core;
      CPU_ZERO(&core);
      CPU_SET(thread, &core);
      sched_setaffinity(0, sizeof core, &core);
      work(thread, threads_);
      ready.fetch_add(1);
      while (ready.load() < threads_) {
      }
      const auto start = std::chrono::steady_clock::now();
      for (std::size_t pass = 0; pass < passes; ++pass) work(thread, threads_);
      spent[thread] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (std::size_t thread = 0; thread < threads_; ++thread) threads.emplace_back(body, thread);
    threads.clear();
    return *std::max_element(spent.begin(), spent.end()) / static_cast<double>(passes);
  }

  std::size_t threads_;
};

struct Form {
  ddl::DataType type;
  std::size_t sources;
  std::size_t destinations;  // the sources, or 1: a vector of its own
};

// A thread's share of `bytes`, in whole lines.
std::pair<std::size_t, std::size_t> share(std::size_t bytes, std::size_t thread, std::size_t threads) {
  const std::size_t lines = bytes / 64;
  const std::size_t first = lines * thread / threads, last = lines * (thread + 1) / threads;
  return {first * 64, (last - first) * 64};
}

Work sum_work(const ddl::KernelTable& kernels, const Form& form, const Memory& memory, std::size_t bytes,
              std::size_t stride) {
  return [=, &kernels, &memory](std::size_t thread, std::size_t threads) {
    const auto [first, length] = share(bytes, thread, threads);
    std::vector<const std::byte*> sources;
    std::vector<std::byte*> destinations;
    for (std::size_t s = 0; s < form.sources; ++s) sources.push_back(memory.part(s * stride + first));
    for (std::size_t d = 0; d < form.destinations; ++d)
      destinations.push_back(
          memory.part((form.destinations == form.sources ? d : form.sources + d) * stride + first));
    ddl::reduce_with(kernels, {form.type, ddl::Operation::sum, 1.0}, sources, destinations,
                     length / ddl::size_of(form.type));
  };
}

// memcpy, a += b, a *= s in all of `memory`, which is two halves.
std::vector<Work> peer_works(const Memory& memory, std::size_t half) {
  std::byte* const to = memory.part(0);
  const std::byte* const from = memory.part(half);
  const auto floats = [](auto* bytes) { return reinterpret_cast<float*>(const_cast<std::byte*>(bytes)); };
  const Work copy = [=](std::size_t thread, std::size_t threads) {
    const auto [first, length] = share(half, thread, threads);
    std::memcpy(to + first, from + first, length);
  };
  const Work add = [=](std::size_t thread, std::size_t threads) {
    const auto [first, length] = share(half, thread, threads);
    add_to(floats(to + first), floats(from + first), length / sizeof(float));
  };
  const Work scale = [=](std::size_t thread, std::size_t threads) {
    const auto [first, length] = share(2 * half, thread, threads);
    touch(floats(to + first), length / sizeof(float));
  };
  return {copy, add, scale};
}

void compare(const ddl::KernelTable& kernels, const Form& form, std::size_t bytes, std::size_t threads,
             std::size_t rounds) {
  const bool in_place = form.destinations == form.sources;
  const std::size_t stride = bytes;  // whole pages, as parts of a SharedBuffer
  const std::size_t vectors = form.sources + (in_place ? 0 : form.destinations);
  const std::size_t touched = bytes * vectors, half = touched / 2;
  const Memory memory(stride * vectors), peer(touched);
  std::vector<Work> contestants = peer_works(peer, half);
  contestants.insert(contestants.begin(), sum_work(kernels, form, memory, bytes, stride));
  const std::size_t passes = std::max<std::size_t>(1, (std::size_t{64} << 20) / touched);
  const std::vector<Times> times = Race(threads).run(contestants, passes, rounds);
  const std::size_t moved[] = {bytes * (form.sources + form.destinations), 2 * half, 3 * half, 4 * half};
  double best[4], median[4];
  for (std::size_t c = 0; c < 4; ++c) {
    best[c] = static_cast<double>(moved[c]) / times[c].best / 1e9;
    median[c] = static_cast<double>(moved[c]) / times[c].median / 1e9;
  }
  const std::size_t alike = in_place ? 3 : 1;  // as many writes to lines that were read, or that were not
  fmt::print(
      "{:2} {:7} {:9} {:>2} -> {:<4} {:>7} kB {:7.1f} {:7.1f} {:7.1f} {:7.1f} {:6.2f} {:6.2f} {:6.2f}\n",
      threads, kernels.name, ddl::name_of(form.type), form.sources, in_place ? "all" : "1", bytes >> 10,
      best[0], best[1], best[2], best[3], best[0] / std::max(best[1], best[2]), best[0] / best[alike],
      median[0] / median[alike]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names;
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) {
    const std::size_t kilobytes = std::strtoul(argv[i], nullptr, 10);
    if (kilobytes > 0)
      sizes.push_back(kilobytes);
    else
      names.emplace_back(argv[i]);
  }
  if (names.empty()) names.emplace_back(ddl::kernel_name());
  if (sizes.empty()) sizes = {64, 1024, 16384, 262144};
  fmt::print(
      "GB/s, read and written. ratio: to the better of memcpy and a += b; alike: to what writes as much, "
      "a *= s for sums in place, else memcpy; by best times, and by medians.\n");
  fmt::print("{:2} {:7} {:9} {:10} {:>10} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6}\n", "t", "kernels",
             "type", "sources", "each", "sum", "memcpy", "a += b", "a *= s", "ratio", "alike", "median");
  using ddl::DataType;
  const Form forms[] = {{DataType::float32, 2, 1}, {DataType::float32, 2, 2},  {DataType::float32, 4, 1},
                        {DataType::float32, 4, 4}, {DataType::bfloat16, 2, 2}, {DataType::float16, 2, 2}};
  for (const std::string& name : names) {
    const ddl::KernelTable* kernels = ddl::find_kernels(name);
    if (kernels == nullptr) {
      fmt::print("skipped: this machine has no {}\n", name);
      continue;
    }
    for (const std::size_t threads : {1, 2})
      for (const std::size_t kilobytes : sizes)
        for (const Form& form : forms)
          compare(*kernels, form, kilobytes << 10, threads, kilobytes > 16384 ? 5 : 21);
  }
}
