// SPDX-License-Identifier: MIT
/* places: one line a thread, "THREAD PROCESSOR PROCESSOR ...": where the OpenMP runtime lets it run. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

enum { most = 1024 };

int main(void) {
#pragma omp parallel
  {
    cpu_set_t set;
    char line[most * 5];
    size_t used = (size_t)sprintf(line, "%d", omp_get_thread_num());
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < most; i++)
      if (CPU_ISSET(i, &set)) used += (size_t)sprintf(line + used, " %d", i);
#pragma omp critical
    puts(line);
  }
  return 0;
}
