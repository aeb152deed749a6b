// SPDX-License-Identifier: MIT
#include "doctor/diagnose/native_stack.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/native_stack");

TEST_CASE("each printer's frames give function, image and source line") {
  struct Row {
    std::string text;
    StackFrame frame;
  };
  // As Open MPI, glibc, UCX, gdb, gfortran, ifort, Julia and OpenJDK print them.
  const Row rows[] = {
      {"[ 2] /usr/lib/libpsm2.so.2(psm2_ep_open+0x2a)[0x7f0102030405]", {"psm2_ep_open", "libpsm2.so.2", ""}},
      {"[ 1] /lib64/libc.so.6(+0x36400)[0x2b0102030405]", {"", "libc.so.6", ""}},
      {" 2  /opt/ucx/lib/libuct.so.0(uct_ep_flush+0x10) [0x7f0102030405]",
       {"uct_ep_flush", "libuct.so.0", ""}},
      {"./solver(main+0x33)[0x400b33]", {"main", "solver", ""}},
      {"11 0x00000000002e87a0 group_size()  /src/hcoll/rte.c:120", {"group_size", "", "rte.c:120"}},
      {" 4 0x0000000000036400 killpg()  ???:0", {"killpg", "", ""}},
      {"#3  0x00007f0102030405 in PMPI_Init (argc=0x1) from /usr/lib/libmpi.so.40",
       {"PMPI_Init", "libmpi.so.40", ""}},
      {"#0  step (n=5) at src/step.c:44", {"step", "", "step.c:44"}},
      {"#5  0x402f52 in MAIN__", {"MAIN__", "", ""}},
      {"#1  0x7f0102030405 in ???", {"", "", ""}},
      {"libhdf5.so.200     00002B27FF560563  H5T__init_native  Unknown  Unknown",
       {"H5T__init_native", "libhdf5.so.200", ""}},
      {"solver             0000000000403F12  MAIN__            645  main.f90",
       {"MAIN__", "solver", "main.f90:645"}},
      {"psm2_ep_open at /usr/lib/libpsm2.so.2 (unknown line)", {"psm2_ep_open", "libpsm2.so.2", ""}},
      {"# C  [libfoo.so+0x1234]  run_it+0x12", {"run_it", "libfoo.so", ""}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto frame = parse_stack_frame(row.text);
    REQUIRE(frame.has_value());
    CHECK(frame->function == row.frame.function);
    CHECK(frame->image == row.frame.image);
    CHECK(frame->source == row.frame.source);
  }
}

TEST_CASE("other lines are no frames") {
  for (const char* text : {"", "step 12 of 40: loss 0.3", "# a comment in a script", "#SBATCH -n 4",
                           "12 0.5 0.25 0.125 7", "look at the file a.c:12", "[ 5] [0x7f]",
                           "Image              PC                Routine            Line"}) {
    CAPTURE(std::string(text));
    CHECK(!parse_stack_frame(text));
  }
}

TEST_CASE("a crash is placed at the first frame that is not of the C library") {
  const Diagnosis diagnosis = diagnose_text(
      "[n1:77] *** Process received signal ***\n"
      "[n1:77] Signal: Segmentation fault (11)\n"
      "[n1:77] Signal code: Address not mapped (1)\n"
      "[n1:77] [ 0] /lib64/libpthread.so.0(+0xf630)[0x2b01]\n"
      "[n1:77] [ 1] /lib64/libc.so.6(+0x36400)[0x2b02]\n"
      "[n1:77] [ 2] /opt/mesh/libmesh.so.4(mesh_split+0x2a)[0x2b03]\n"
      "[n1:77] [ 3] ./solver(main+0x33)[0x400b33]\n"
      "[n1:77] *** End of error message ***\n"
      "mpirun noticed that process rank 3 with PID 77 on node n1 exited on signal 11 (Segmentation "
      "fault).\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title.ends_with(" in mesh_split (libmesh.so.4)"));
  CHECK(diagnosis.cause->evidence.back().line == 6);
}

TEST_CASE("gfortran's source line stands below its frame") {
  const Diagnosis diagnosis = diagnose_text(
      "Program received signal SIGSEGV: Segmentation fault - invalid memory reference.\n"
      "\nBacktrace for this error:\n"
      "#0  0x7f0102030405 in ???\n"
      "#1  0x400b33 in split\n"
      "\tat /home/a/mesh.f90:122\n"
      "#2  0x400c33 in main\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title.ends_with(" in split (mesh.f90:122)"));
}

TEST_CASE("of two ranks that print at once the first rank's stack counts") {
  const Diagnosis diagnosis = diagnose_text(
      "[1,2]<stderr>:[n1:77] *** Process received signal ***\n"
      "[1,5]<stderr>:[n1:78] [ 2] /opt/b/libother.so.4(other+0x2a)[0x2b03]\n"
      "[1,2]<stderr>:[n1:77] [ 2] /opt/b/libfirst.so.4(first+0x2a)[0x2b03]\n"
      "mpirun noticed that process rank 2 with PID 77 on node n1 exited on signal 11 (Segmentation "
      "fault).\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title.ends_with(" in first (libfirst.so.4)"));
}

TEST_CASE("the crash of a Python program is in its own line, not in the library that it calls") {
  const std::string head =
      "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f2 (most recent call first):\n";
  const std::string library = "  File \"/usr/lib/python3.11/ctypes/__init__.py\", line 519 in string_at\n";
  const std::string own =
      "  File \"/home/me/train.py\", line 14 in step\n  File \"/home/me/train.py\", line 30 in <module>\n";
  const std::string end =
      "mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 11 (Segmentation fault).\n";
  const Diagnosis crashed = diagnose_text(head + library + own + end);
  REQUIRE(crashed.cause);
  CHECK(crashed.cause->title.ends_with(" in step (train.py:14)"));
  for (const std::string& remedy : crashed.cause->remedies)
    CHECK(remedy.find("PYTHONFAULTHANDLER") == std::string::npos);
  const Diagnosis inside = diagnose_text(head + library + end);
  REQUIRE(inside.cause);
  CHECK(inside.cause->title.ends_with(" in string_at (__init__.py:519)"));
  // Other threads, before and behind.
  const std::string idle =
      "Thread 0x00007f9 (most recent call first):\n  File \"/home/me/feed.py\", line 8 in prefetch\n\n";
  const std::string message = "Fatal Python error: Segmentation fault\n\n";
  const std::string current = head.substr(message.size());
  for (const std::string& text :
       {message + current + library + "\n" + idle + end, message + idle + current + library + end}) {
    const Diagnosis among = diagnose_text(text);
    REQUIRE(among.cause);
    CHECK(among.cause->title.ends_with(" in string_at (__init__.py:519)"));
  }
}

TEST_CASE("a frame of Python's faulthandler") {
  const auto frame = parse_stack_frame("File \"/opt/env/fastmat/kernels.py\", line 77 in multiply");
  REQUIRE(frame.has_value());
  CHECK(render_frame(*frame) == "multiply (kernels.py:77)");
  CHECK(!parse_stack_frame("File \"/work/ada/solve.py\", line 12, in main"));
}

TEST_CASE("a frame without a name is named by its caller in the same library") {
  const Diagnosis diagnosis = diagnose_text(
      "solve:77 terminated with signal 11 at PC=2b01 SP=7ffd.  Backtrace:\n"
      "/opt/mpi/lib/libmpi.so.12(+0x29bc)[0x2b010203]\n"
      "/opt/mpi/lib/libmpi.so.12(PMPI_Gather+0xd7)[0x2b010204]\n"
      "./solve[0x4011]\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title.ends_with(" in PMPI_Gather (libmpi.so.12)"));
}

TEST_CASE("what gdb prints of a crash in the C library is placed in the program") {
  const Diagnosis diagnosis = diagnose_text(
      "79\t../sysdeps/x86_64/multiarch/strlen-evex.S: No such file or directory.\n"
      "Program received signal SIGSEGV, Segmentation fault.\n"
      "__strlen_evex () at ../sysdeps/x86_64/multiarch/strlen-evex.S:79\n"
      "#0  __strlen_evex () at ../sysdeps/x86_64/multiarch/strlen-evex.S:79\n"
      "#1  0x0000555555555193 in main () at segv.c:3\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "a rank crashed (SIGSEGV) in main (segv.c:3)");
  const Diagnosis note = diagnose_text("79\t../sysdeps/x86_64/strlen.S: No such file or directory.\n");
  CHECK(note.verdict == Verdict::no_trouble);
}
TEST_SUITE_END();
