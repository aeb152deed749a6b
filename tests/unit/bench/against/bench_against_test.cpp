// SPDX-License-Identifier: MIT
#include "bench/against/bench_against.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::bench_against;
using tests::FakeSystem;

namespace {

// What mpirun --version of Debian 12's Open MPI and MPICH prints.
constexpr const char* open_mpi_version =
    "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/\n";
constexpr const char* mpich_version =
    "HYDRA build details:\n    Version:                                 4.0.2\n    Release Date: ...\n";

FakeSystem machine() {
  FakeSystem fake;
  fake.environment.variables["PATH"] = "/opt/ompi5/bin:/usr/bin:/bin:relative";
  for (const char* path :
       {"/opt/ompi5/bin/mpirun", "/opt/ompi5/lib/libmpi.so.40", "/usr/bin/mpirun", "/usr/bin/mpirun.openmpi",
        "/usr/bin/mpirun.mpich", "/bin/mpirun", "relative/mpirun"})
    fake.files.files[path] = "";
  fake.processes.answer = [](const Command& command) {
    ProcessResult result;
    result.exit_status = 0;
    if (command[0] == "/opt/ompi5/bin/mpirun")
      result.out = "mpirun (Open MPI) 5.0.7\n";
    else
      result.out = command[0] == "/usr/bin/mpirun.mpich"     ? mpich_version
                   : command[0] == "/usr/bin/mpirun.openmpi" ? "mpirun.openmpi (OpenRTE) 4.1.4\n"
                                                             : open_mpi_version;
    return result;
  };
  return fake;
}

constexpr const char* sums =
    R"({"schema":"ddl-bench.allreduce/1","ranks":2,"hosts":1,"type":"float32","mpi":"M","sizes":[{"bytes":4,"backends":[{"backend":"ddl","us_min":2.0,"wrong":0},{"backend":"mpi","us_min":4.0,"wrong":0}]}]})"
    "\n";

}  // namespace

TEST_SUITE("bench/against/bench_against") {
  TEST_CASE("all: each version once, with the library directory of one outside /usr") {
    FakeSystem fake = machine();
    System system = fake.interfaces();
    const auto found = find_mpi_installations(system, "all");
    REQUIRE(found.size() == 3);
    CHECK(found[0].mpirun == "/opt/ompi5/bin/mpirun");
    CHECK(found[0].libraries == "/opt/ompi5/lib");
    CHECK(found[1].version == "Open MPI 4.1.4");
    CHECK(found[1].libraries.empty());
    CHECK(found[2].mpirun == "/usr/bin/mpirun.mpich");
    CHECK(found[2].version == "MPICH 4.0.2");
  }

  TEST_CASE("paths are taken as given, and one that is no mpirun is refused") {
    FakeSystem fake = machine();
    System system = fake.interfaces();
    CHECK(find_mpi_installations(system, "/usr/bin/mpirun,/bin/mpirun").size() == 2);
    fake.processes.answer = [](const Command&) { return ProcessResult{}; };
    CHECK_THROWS_AS(find_mpi_installations(system, "/usr/bin/true"), Error);
    fake.environment.variables["PATH"] = "";
    CHECK_THROWS_AS(find_mpi_installations(system, "all"), Error);
  }

  TEST_CASE("a run for each MPI, with its library first; one that fails is noted") {
    FakeSystem fake = machine();
    fake.environment.variables["LD_LIBRARY_PATH"] = "/mine";
    System system = fake.interfaces();
    AgainstRequest request;
    request.installations = {{"/opt/ompi5/bin/mpirun", "five", "/opt/ompi5/lib"},
                             {"/usr/bin/mpirun", "four", ""}};
    request.launch_words = {"2"};
    request.bench_words = {"--sizes", "4"};
    request.repeat = 2;
    fake.processes.answer = [](const Command& command) {
      ProcessResult result;
      result.exit_status = command[5] == "/usr/bin/mpirun" ? 0 : 3;
      result.out = sums;
      result.err = "ddlrun: note\nddl-bench: error: no MPI library\n  at: x\n";
      return result;
    };
    const AgainstResult result = run_against(system, request);
    REQUIRE(fake.processes.ran.size() == 3);  // what failed once is not tried again
    CHECK(fake.processes.ran[0] ==
          Command{"/opt/ddlrun/bin/ddlrun", "bench", "allreduce", "2", "--mpirun", "/opt/ompi5/bin/mpirun",
                  "-x", "LD_LIBRARY_PATH=/opt/ompi5/lib:/mine", "--json", "-", "--", "--sizes", "4"});
    REQUIRE(result.runs.size() == 1);
    REQUIRE(result.notes.size() == 1);
    CHECK(result.notes[0] == "not measured: five (/opt/ompi5/bin/mpirun): no MPI library");
    // A launcher that fails with status 1, and prints no document.
    fake.processes.answer = [](const Command& command) {
      ProcessResult ended;
      ended.exit_status = command[5] == "/usr/bin/mpirun" ? 0 : 1;
      ended.out = command[5] == "/usr/bin/mpirun" ? sums : "";
      ended.err = "mpirun: error: not enough slots\n";
      return ended;
    };
    const AgainstResult other = run_against(system, request);
    CHECK(other.runs.size() == 1);
    CHECK(other.runs[0].documents.size() == 2);
    CHECK(other.notes[0] == "not measured: five (/opt/ompi5/bin/mpirun): not enough slots");
    request.installations.pop_back();
    CHECK_THROWS_AS(run_against(system, request), Error);
  }
}
