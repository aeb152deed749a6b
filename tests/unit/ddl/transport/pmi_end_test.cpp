// SPDX-License-Identifier: MIT
// The end at the launcher: which MPICH needs it, and the lines to hydra and srun.
#include "ddl/transport/pmi_end.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>

namespace {

// Reads a line from a rank, as hydra does, then answers it.
std::string serve(int fd, std::string_view answer) {
  std::string line;
  for (char next = 0; read(fd, &next, 1) == 1 && next != '\n';) line += next;
  static_cast<void>(!write(fd, answer.data(), answer.size()));
  return line;
}

}  // namespace

TEST_SUITE_BEGIN("ddl/transport/pmi_end");

TEST_CASE("MPICH before 4.2 over UCX may hang in MPI_Finalize") {
  using ddl::may_hang_in_finalize;
  CHECK(may_hang_in_finalize("MPICH Version:      4.0.2\nMPICH Device:    ch4:ucx\n"));  // Debian 12
  CHECK(may_hang_in_finalize("MPICH Version:\t4.1.2\nMPICH Device:\tch4:ucx\n"));
  CHECK(may_hang_in_finalize("MPICH Version:      3.4\nMPICH Device:    ch4:ucx\n"));
  CHECK(!may_hang_in_finalize("MPICH Version:      4.2.0\nMPICH Device:    ch4:ucx\n"));
  CHECK(!may_hang_in_finalize("MPICH Version:      5.0.2\nMPICH Device:    ch4:ucx\n"));
  CHECK(!may_hang_in_finalize("MPICH Version:      4.0.2\nMPICH Device:    ch4:ofi\n"));
  CHECK(!may_hang_in_finalize("MPICH Version:"));
  CHECK(!may_hang_in_finalize("MPICH Version: ch4:ucx"));
  CHECK(!may_hang_in_finalize("Open MPI v4.1.4, package: Debian OpenMPI"));
  CHECK(!may_hang_in_finalize(""));
}

TEST_CASE("a rank waits for all at the launcher, then ends there") {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  std::string first;
  std::string second;
  std::thread launcher([&] {
    first = serve(ends[1], "cmd=barrier_out\n");
    second = serve(ends[1], "cmd=finalize_ack\n");
  });
  CHECK(ddl::end_pmi(ends[0]));
  launcher.join();
  CHECK(first == "cmd=barrier_in");
  CHECK(second == "cmd=finalize");
  for (const int fd : ends) close(fd);
}

TEST_CASE("a launcher that answers something else or has gone") {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  std::string first;
  std::thread launcher([&] { first = serve(ends[1], "cmd=unknown rc=-1\n"); });
  CHECK(!ddl::end_pmi(ends[0]));
  launcher.join();
  CHECK(first == "cmd=barrier_in");
  close(ends[1]);
  CHECK(!ddl::end_pmi(ends[0]));
  close(ends[0]);
  CHECK(!ddl::end_pmi(-1));
}
