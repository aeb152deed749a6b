// SPDX-License-Identifier: MIT
#include "base/process/posix_process_binding.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace ddlrun {

namespace {

// Empty if the kernel does not list them.
std::vector<int> read_cpuset(pid_t process) {
  // The kernel refuses sets smaller than its own: grow until it fits.
  for (std::size_t cpus = 1024; cpus <= (1u << 20); cpus *= 4) {
    std::vector<cpu_set_t> sets(CPU_ALLOC_SIZE(cpus) / sizeof(cpu_set_t));
    const std::size_t bytes = sets.size() * sizeof(cpu_set_t);
    CPU_ZERO_S(bytes, sets.data());
    if (::sched_getaffinity(process, bytes, sets.data()) != 0) {
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

}  // namespace

std::vector<int> read_own_cpuset() { return read_cpuset(0); }

int take_cpuset_of_parent() {
  const std::vector<int> pus = read_cpuset(::getppid());
  return pus.empty() ? errno : bind_to_pus(pus);
}

int bind_to_pus(const std::vector<int>& pus) {
  if (pus.empty()) return EINVAL;
  const std::size_t cpus = static_cast<std::size_t>(pus.back()) + 1;
  std::vector<cpu_set_t> sets(CPU_ALLOC_SIZE(cpus) / sizeof(cpu_set_t) + 1);
  const std::size_t bytes = sets.size() * sizeof(cpu_set_t);
  CPU_ZERO_S(bytes, sets.data());
  for (const int pu : pus) CPU_SET_S(static_cast<std::size_t>(pu), bytes, sets.data());
  return ::sched_setaffinity(0, bytes, sets.data()) == 0 ? 0 : errno;
}

int take_memory_from(int numa_node, bool strictly) {
  constexpr long preferred = 1, bind = 2;  // linux/mempolicy.h; glibc has neither these nor the call
  constexpr std::size_t bits = 8 * sizeof(unsigned long);
  const auto node = static_cast<std::size_t>(numa_node);
  std::vector<unsigned long> mask(node / bits + 1);
  mask[node / bits] |= 1ul << (node % bits);
  // The kernel reads one bit less than the given length.
  return ::syscall(SYS_set_mempolicy, strictly ? bind : preferred, mask.data(), mask.size() * bits + 1) == 0
             ? 0
             : errno;
}

int enter_directory(const std::string& path) { return ::chdir(path.c_str()) == 0 ? 0 : errno; }

void change_variables(const EnvVars& set, const std::vector<std::string>& remove) {
  for (const std::string& name : remove) ::unsetenv(name.c_str());
  for (const auto& [name, value] : set) ::setenv(name.c_str(), value.c_str(), 1);
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
