// SPDX-License-Identifier: MIT
// Which OpenMP runtime a program brings, seen in made-up ELF files.
#include "launch/plan/job_threads.hpp"

#include "tests/support/elf_image.hpp"
#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using affinity::OpenMpRuntime;

namespace {

struct Host {
  tests::FakeProcesses processes;
  tests::FakeFiles files;
  tests::FakeClock clock;
  tests::FakeHostInfo kernel;
  Environment environment;

  Host() {
    environment.variables["PATH"] = "/bin";
    environment.workdir = "/work";
  }
  void add(const std::string& path, const std::string& bytes) {
    files.files[path] = bytes;
    kernel.add(path);
  }
  void add_elf(const std::string& path, std::vector<std::string> needed) {
    tests::ElfImage image;
    image.needed = std::move(needed);
    add(path, image.bytes());
  }
  launch::ProgramLibraries read(const Command& program) {
    System system{processes, files,  clock, environment, [](std::string_view) {}, [](std::string_view) {},
                  {},        &kernel};
    return launch::read_program_libraries(system, program);
  }
  OpenMpRuntime find(const Command& program) { return launch::find_openmp_runtime(read(program)); }
  launch::ProgramMpi find_mpi(const Command& program) { return launch::find_program_mpi(read(program)); }
};

}  // namespace

TEST_SUITE_BEGIN("launch/plan/job_threads");

TEST_CASE("the runtime is found in the program's libraries and in theirs") {
  Host host;
  for (const char* name : {"libgomp.so.1", "libomp.so.5", "libiomp5.so", "libc.so.6"})
    host.add_elf(std::string("/lib64/") + name, {});
  host.add_elf("/lib64/libdnnl.so.2", {"libgomp.so.1", "libc.so.6"});
  host.add_elf("/bin/direct", {"libomp.so.5", "libc.so.6"});
  host.add_elf("/bin/below", {"libdnnl.so.2"});
  host.add_elf("/bin/both", {"libdnnl.so.2", "libiomp5.so"});
  host.add_elf("/bin/plain", {"libc.so.6"});
  host.add_elf("/bin/broken", {"libc.so.6", "libgone.so.1"});
  host.add_elf("/bin/static", {});
  host.add_elf("/bin/python3.11", {"libc.so.6"});
  for (const char* starter : {"timeout", "stdbuf", "perf", "numactl"})
    host.add_elf(std::string("/bin/") + starter, {"libc.so.6"});
  host.add_elf("/work/here", {"libiomp5.so"});
  host.files.files["./here"] = "";
  host.add("/bin/script", "#!/bin/sh\n");
  struct Row {
    std::string program;
    OpenMpRuntime runtime;
  };
  for (const Row& row : {Row{"direct", OpenMpRuntime::libomp}, Row{"/bin/below", OpenMpRuntime::libgomp},
                         Row{"both", OpenMpRuntime::unknown}, Row{"plain", OpenMpRuntime::none},
                         Row{"broken", OpenMpRuntime::unknown}, Row{"static", OpenMpRuntime::unknown},
                         Row{"python3.11", OpenMpRuntime::unknown}, Row{"script", OpenMpRuntime::unknown},
                         Row{"./here", OpenMpRuntime::libomp}, Row{"nowhere", OpenMpRuntime::unknown}}) {
    CAPTURE(row.program);
    CHECK(affinity::name_of(host.find({row.program})) == affinity::name_of(row.runtime));
  }
  // Of the program behind another one, its own libraries say nothing: neither of OpenMP nor of MPI.
  for (const Command& program :
       {Command{"timeout", "60", "./mpi_program"}, Command{"/bin/stdbuf", "-oL", "x"},
        Command{"perf", "stat", "x"}, Command{"numactl", "-m0", "x"}}) {
    CAPTURE(program[0]);
    CHECK(host.find(program) == OpenMpRuntime::unknown);
    CHECK(host.find_mpi(program) == launch::ProgramMpi::unknown);
  }
  CHECK(host.find_mpi({"plain"}) == launch::ProgramMpi::none);
}

TEST_CASE("Python is asked for mpi4py with the directories of the program, not with the working directory") {
  struct Row {
    Command program;
    std::string first;
  };
  const std::vector<Row> rows{{{"python3", "/else/train.py"}, "/else"},
                              {{"python3", "-u", "sub/train.py"}, "/work/sub"},
                              {{"python3", "train.py"}, "/work"},
                              {{"python3", "-m", "module"}, "/work"}};
  for (const Row& row : rows) {
    CAPTURE(row.first);
    Host host;
    System system{host.processes,          host.files, host.clock,  host.environment, [](std::string_view) {},
                  [](std::string_view) {}, {},         &host.kernel};
    launch::read_mpi4py_libraries(system, row.program);
    REQUIRE(host.processes.ran.size() == 1);
    CHECK(host.processes.ran[0].back() == row.first);
  }
}

TEST_SUITE_END();
