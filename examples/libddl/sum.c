/* SPDX-License-Identifier: MIT */
/* The same in C. */
#include <ddl/ddl.h>

#include <stdio.h>

int main(int argc, char** argv) {
  ddl_context* ddl = NULL;
  float values[3];
  if (ddl_init(&argc, &argv, NULL, &ddl) != 0) return fprintf(stderr, "%s\n", ddl_last_error()), 1;
  for (int i = 0; i < 3; ++i) values[i] = (float)(ddl_rank(ddl) + 1);
  if (ddl_all_reduce(ddl, values, 3, DDL_FLOAT32, DDL_AVERAGE) != 0) return fprintf(stderr, "%s\n", ddl_last_error()), 1;
  printf("rank %d of %d: %g\n", ddl_rank(ddl), ddl_size(ddl), (double)values[2]);
  return ddl_finalize(ddl);
}
