/* SPDX-License-Identifier: MIT */
/* Starts the OpenMP threads that it is told to, and counts them. */
#include <stdio.h>

int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  printf("%d threads\n", threads);
}
