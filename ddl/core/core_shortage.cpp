// SPDX-License-Identifier: MIT
#include "ddl/core/core_shortage.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ddl {

std::string hint_core_shortage() {
  const pid_t first = getpid();
  if (first == static_cast<pid_t>(syscall(SYS_gettid))) return "";
  cpu_set_t mine;
  cpu_set_t its;
  if (sched_getaffinity(0, sizeof(mine), &mine) != 0 || sched_getaffinity(first, sizeof(its), &its) != 0)
    return "";
  if (CPU_COUNT(&mine) != 1 || !CPU_EQUAL(&mine, &its)) return "";
  return "; two threads of this rank share one core: start fewer ranks on a host, or ddlrun launch --bind-to "
         "none";
}

}  // namespace ddl
