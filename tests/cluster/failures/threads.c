/* SPDX-License-Identifier: MIT */
/* Starts the requested number of OpenMP threads, and counts them. */
#include <stdio.h>

int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  printf("%d threads\n", threads);
}
