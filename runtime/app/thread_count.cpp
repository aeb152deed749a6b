// SPDX-License-Identifier: MIT
#include "runtime/app/thread_count.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>

namespace ddlrun::runtime {
namespace {

constexpr int max_threads = 4096;

// SMT siblings have the same list, so distinct lists count cores. A PU without the file counts as a core.
std::string core_of(int pu) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", pu));
  std::string text;
  return std::getline(file, text) ? text : fmt::format("pu {}", pu);
}

std::vector<int> allowed_pus() {
  // More PUs than a cpu_set_t holds (1024) are rare; the kernel then refuses and one core is assumed.
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> pus;
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return {0};
  for (int pu = 0; pu < CPU_SETSIZE; ++pu) {
    if (CPU_ISSET(pu, &mask)) pus.push_back(pu);
  }
  return pus;
}

}  // namespace

std::size_t count_processors() { return allowed_pus().size(); }

int threads_for_mask(int cores, const std::string& mine, const std::vector<std::string>& all) {
  const auto sharing = static_cast<int>(std::count(all.begin(), all.end(), mine));
  return std::max(1, cores / std::max(1, sharing));
}

ThreadChoice choose_threads(int asked, Communicator& ranks) {
  const std::vector<int> pus = allowed_pus();
  std::set<std::string> cores;
  for (const int pu : pus) cores.insert(core_of(pu));
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string mine = fmt::format("{} {}", host.data(), render_ranges(pus));
  const std::vector<std::string> all = ranks.gather_all(mine);
  if (asked > 0) return {asked, "--threads"};
  const char* variable = std::getenv("OMP_NUM_THREADS");  // NOLINT(concurrency-mt-unsafe)
  if (variable != nullptr) {
    const auto value = parse_unsigned(split(variable, ',')[0], max_threads);
    if (value && *value > 0) return {static_cast<int>(*value), "OMP_NUM_THREADS"};
  }
  const int threads = threads_for_mask(static_cast<int>(cores.size()), mine, all);
  return {threads, fmt::format("{} core(s) in the affinity mask, {} rank(s) on them", cores.size(),
                               std::count(all.begin(), all.end(), mine))};
}

}  // namespace ddlrun::runtime
