// SPDX-License-Identifier: MIT
// A rank of any MPI that reports what it finds itself to be, in a file DIRECTORY/place.RANK: rank, size, host,
// local rank as the launcher's variable says it, processors, and the variables named behind DIRECTORY. All ranks
// first add up their ranks, so that one which is alone is noticed. With -DWITHOUT_MPI any program: rank and
// size are the launcher's word.
#ifndef WITHOUT_MPI
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? "-" : value;
}

static const char *local_rank(void) {
  const char *names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
  for (int i = 0; i < 3; ++i) {
    if (getenv(names[i]) != NULL) return getenv(names[i]);
  }
  return "-";
}

#ifdef WITHOUT_MPI
static void begin(int *rank, int *size, int *sum) {
  const char *named[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
  const char *counted[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};
  for (int i = 2; i >= 0; --i) {
    if (getenv(named[i]) == NULL) continue;
    *rank = atoi(getenv(named[i]));
    *size = atoi(variable(counted[i]));
  }
  *sum = *size * (*size - 1) / 2;
}
static void end(void) {}
#else
static void begin(int *rank, int *size, int *sum) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  MPI_Allreduce(rank, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void end(void) { MPI_Finalize(); }
#endif

int main(int argc, char **argv) {
  char host[256] = "", line[4096], cpus[4096] = "-", path[4096];
  int rank = 0, size = 0, sum = 0;
  if (argc < 2) return 2;
  begin(&rank, &size, &sum);
  gethostname(host, sizeof host - 1);
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "Cpus_allowed_list: %4095s", cpus) == 1) break;
  }
  snprintf(path, sizeof path, "%s/place.%d", argv[1], rank);
  FILE *place = fopen(path, "w");
  if (place == NULL) return 3;
  fprintf(place, "%d of %d (sum %d) on %s local %s cpus %s", rank, size, sum, host, local_rank(), cpus);
  for (int i = 2; i < argc; ++i) fprintf(place, " %s=%s", argv[i], variable(argv[i]));
  fprintf(place, "\n");
  fclose(place);
  end();
  return 0;
}
