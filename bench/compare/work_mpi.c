// SPDX-License-Identifier: MIT
// The job, by MPI: steps of an allreduce until the seconds in the file "plan" are over; the rank named there
// hangs after 2 s. Each rank writes its host and process to places/RANK. Both are in the home.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, go = 1, hanging = -1;
  double seconds = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (chdir(getenv("HOME"))) return 1;
  FILE *plan = fopen("plan", "r");
  if (!plan || fscanf(plan, "%lf %d", &seconds, &hanging) != 2) return 1;
  fclose(plan);
  char host[256], name[64];
  gethostname(host, sizeof host);
  snprintf(name, sizeof name, "places/%d", rank);
  FILE *place = fopen(name, "w");
  if (!place) return 1;
  fprintf(place, "%s %d\n", host, (int)getpid());
  fclose(place);
  for (double begun = MPI_Wtime(); go;) {
    usleep(100000);
    while (rank == hanging && MPI_Wtime() - begun > 2) pause();
    int mine = MPI_Wtime() - begun < seconds, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    go = all;
  }
  if (rank == 0) printf("%d ranks have ended well\n", size);
  return MPI_Finalize();
}
