/* SPDX-License-Identifier: MIT */
/* The same in C. */
#include <ddl/ddl.h>

#include <stdio.h>

int main(int argc, char** argv) {
  ddl_context* context = NULL;
  float values[3];
  if (ddl_init(&argc, &argv, NULL, &context) != 0) return fprintf(stderr, "%s\n", ddl_last_error()), 1;
  for (int i = 0; i < 3; ++i) values[i] = (float)(ddl_rank(context) + 1);
  if (ddl_all_reduce(context, values, 3, DDL_FLOAT32, DDL_AVERAGE) != 0) return fprintf(stderr, "%s\n", ddl_last_error()), 1;
  printf("rank %d of %d: %g\n", ddl_rank(context), ddl_size(context), (double)values[2]);
  return ddl_finalize(context);
}
