// SPDX-License-Identifier: MIT
#include "base/posix_rank.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ddlrun {

std::vector<int> read_own_cpuset() {
  // The kernel refuses sets smaller than its own: grow until it fits.
  for (std::size_t cpus = 1024; cpus <= (1u << 20); cpus *= 4) {
    std::vector<cpu_set_t> sets(CPU_ALLOC_SIZE(cpus) / sizeof(cpu_set_t));
    const std::size_t bytes = sets.size() * sizeof(cpu_set_t);
    CPU_ZERO_S(bytes, sets.data());
    if (::sched_getaffinity(0, bytes, sets.data()) != 0) {
      if (errno == EINVAL) continue;
      return {};
    }
    std::vector<int> found;
    for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, sets.data())) found.push_back(static_cast<int>(cpu));
    }
    return found;
  }
  return {};
}

int bind_self(const std::vector<int>& pus) {
  if (pus.empty()) return 0;
  const auto most = static_cast<std::size_t>(*std::max_element(pus.begin(), pus.end()));
  std::vector<cpu_set_t> sets(most / CPU_SETSIZE + 1);
  const std::size_t bytes = sets.size() * sizeof(cpu_set_t);
  CPU_ZERO_S(bytes, sets.data());
  for (const int pu : pus) CPU_SET_S(static_cast<std::size_t>(pu), bytes, sets.data());
  return ::sched_setaffinity(0, bytes, sets.data()) == 0 ? 0 : errno;
}

int enter_folder(const std::string& folder) {
  return folder.empty() || ::chdir(folder.c_str()) == 0 ? 0 : errno;
}

void end_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGTERM); }

int become_program(const Command& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return errno;
}

}  // namespace ddlrun
