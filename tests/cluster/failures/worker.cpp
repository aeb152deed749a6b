// SPDX-License-Identifier: MIT
// An MPI program that breaks in a chosen way on a chosen rank: worker [FAULT [RANK]]
// The others wait in a barrier, as the ranks of a real job do while one of them dies.
// verbs, ucx and openib lock memory as an InfiniBand driver does, and when the limit forbids it print what
// the driver prints: there is no such card here, the limit and its refusal are real.
#include <mpi.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// Open MPI's own printer of help topics, with its aggregation over ranks.
extern "C" int (*opal_show_help)(const char* file, const char* topic, bool want_error_header, ...);

namespace {

bool can_lock(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED && mlock(memory, bytes) == 0;
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

void lock_like_verbs() {
  if (can_lock(1U << 20U)) return;
  std::fprintf(stderr,
               "Failed to create a completion queue (CQ):\nHostname: %s\nRequested CQE: 16384\nError:    %s\n"
               "Check the CQE attribute.\n",
               host_name().c_str(), std::strerror(errno));
  std::exit(1);
}

void lock_like_ucx() {
  if (can_lock(1U << 20U)) return;
  std::fprintf(
      stderr,
      "[%s:%d:0] ib_iface.c:964  UCX  ERROR ibv_create_cq() failed: %s. Please set max locked memory "
      "(ulimit -l) to 'unlimited' (current: 64 kbytes)\n",
      host_name().c_str(), getpid(), std::strerror(errno));
  std::exit(1);
}

void lock_like_openib() {
  if (can_lock(1U << 20U)) return;
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  opal_show_help("help-mpi-btl-openib.txt", "init-fail-no-mem", true, host_name().c_str(),
                 "btl_openib_component.c", 1000, "ibv_create_cq", "mlx5_0",
                 std::to_string(limit.rlim_cur).c_str());
  std::exit(1);
}

void eat_memory() {
  std::vector<std::vector<char>> eaten;
  for (;;) eaten.emplace_back(64U << 20U, 'x');
}

void receive_too_little(int rank) {
  int values[8] = {};
  if (rank == 0) MPI_Send(values, 8, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(values, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void fail(const std::string& fault) {
  if (fault == "exit") std::exit(7);
  if (fault == "leave") std::_Exit(0);
  if (fault == "kill") raise(SIGKILL);
  if (fault == "segv") raise(SIGSEGV);
  if (fault == "bus") raise(SIGBUS);
  if (fault == "abort") std::abort();
  if (fault == "mpi_abort") MPI_Abort(MPI_COMM_WORLD, 3);
  if (fault == "hog") eat_memory();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string fault = argc > 1 ? argv[1] : "none";
  const int culprit = argc > 2 ? std::atoi(argv[2]) : 0;
  if (fault == "early") return 5;  // before MPI_Init
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::printf("rank %d of %d on %s\n", rank, ranks, host_name().c_str());
  std::fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (fault == "verbs") lock_like_verbs();
  if (fault == "ucx") lock_like_ucx();
  if (fault == "openib") lock_like_openib();
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (fault == "truncate") receive_too_little(rank);
  if (fault == "sleep") sleep(static_cast<unsigned>(culprit));
  if (rank == culprit) fail(fault);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
