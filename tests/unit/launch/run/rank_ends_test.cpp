// SPDX-License-Identifier: MIT
// What launch makes of the ends of ranks: the cause, or what is known without one.
#include "base/text/text.hpp"
#include "launch/rank/output_frame.hpp"
#include "launch/rank/stderr_source.hpp"
#include "tests/unit/launch/run/monitored_job.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace ddlrun;
using launch::LaunchMonitor;
using launch::RankStatus;
using tests::ended;

TEST_SUITE_BEGIN("launch/run/rank_ends");

namespace {

// What a rank of PyTorch prints when its peer is gone.
constexpr const char* closed_by_peer =
    "Traceback (most recent call last):\n"
    "  File \"/home/me/ddp.py\", line 12, in <module>\n"
    "    dist.all_reduce(t)\n"
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer "
    "[10.83.1.4]:52368\n";

// The same by each launcher that knows the end of each rank; with ssh and frames also the rank of each line.
struct Ended : tests::Job {
  std::optional<LaunchMonitor> monitor;
  launch::OutputFramer framers[2] = {{"tok", 0}, {"tok", 1}};

  explicit Ended(launch::LauncherKind kind, bool frames_stderr = false) {
    plan.placed.launcher.version.kind = kind;
    plan.program.verify = false;
    plan.program.frames_stderr = frames_stderr;
    monitor.emplace(system, run);
  }
  void print(std::uint32_t rank, const std::string& text) {
    for (std::size_t at = 0, length = 0; at < text.size(); at += length) {
      length = std::min(text.find('\n', at), text.size() - 1) + 1 - at;
      monitor->hooks().on_stderr_line(as_passed_on(rank, text.substr(at, length)));
    }
  }
  std::string as_passed_on(std::uint32_t rank, const std::string& line) {
    if (plan.program.frames_stderr) return framers[rank].mark(launch::RankStream::err, line);
    const bool by_ssh = plan.placed.kind() == launch::LauncherKind::ssh;
    return by_ssh ? launch::mark_stderr_lines("tok", rank, line) : line;
  }
  void end(std::uint32_t rank, int status, int signal = 0) {
    monitor->hooks().on_stderr_line(status_line(rank, RankStatus::ended, status, signal));
  }
  std::string diagnosis(int status) {
    monitor->finish(ended(status));
    return monitor->diagnosis(ended(status));
  }
};

}  // namespace

TEST_CASE("a rank that left with status 0 is the cause, the errors of the others are consequences") {
  for (const auto kind : {launch::LauncherKind::ssh, launch::LauncherKind::open_mpi}) {
    Ended job(kind);
    job.end(1, 0);
    job.print(0, closed_by_peer);
    job.end(0, 1);
    const std::string diagnosis = job.diagnosis(1);
    CAPTURE(diagnosis);
    CHECK(diagnosis.starts_with("cause: rank 1 on h2 ended with status 0 before the others"));
    CHECK(diagnosis.find("at: rank 1 on h2\n") != std::string::npos);
    CHECK(job.monitor->cause().is_known);
    CHECK(job.monitor->cause().missed_rank == diagnose::Place{1, "h2"});
  }
  Ended likely(launch::LauncherKind::ssh);  // general rules have a class for this line
  likely.end(1, 0);
  likely.print(0,
               "Traceback (most recent call last):\n  File \"<string>\", line 4, in <module>\n"
               "RuntimeError: [pair.cc:598] Connection closed by peer [10.83.1.4]:52368\n");
  likely.end(0, 1);
  CHECK(likely.diagnosis(1).starts_with("cause: rank 1 on h2 ended with status 0 before the others"));
  // A rank that ends after the failure was ended by it; an error of its own is the cause.
  Ended later(launch::LauncherKind::ssh);
  later.print(0, closed_by_peer);
  later.end(0, 1);
  later.end(1, 0);
  CHECK(later.diagnosis(1).starts_with("cause: unknown: rank 0 on h1 exited with status 1"));
  Ended own(launch::LauncherKind::ssh);
  own.end(1, 0);
  own.print(0, "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: odd\n");
  own.end(0, 1);
  CHECK(own.diagnosis(1).starts_with("cause: ValueError: odd (a.py:1)"));
}

TEST_CASE("without a known cause the diagnosis names the rank that failed first, and how") {
  Ended silent(launch::LauncherKind::ssh);
  silent.end(1, 3);
  silent.end(0, 143, 15);
  CHECK(silent.diagnosis(3) ==
        "cause: unknown: rank 1 on h2 exited with status 3, and the output does not show why\n"
        "at: rank 1 on h2\ntry:\n"
        "  look in the program for what ends it with status 3, such as sys.exit\n"
        "  ddlrun doctor 'h[1-2]'   # checks the hosts\n");
  CHECK_FALSE(silent.monitor->cause().is_known);
  Ended alone(launch::LauncherKind::ssh);
  alone.print(0, closed_by_peer);
  alone.end(1, 7);
  alone.end(0, 1);
  const std::string diagnosis = alone.diagnosis(7);
  CAPTURE(diagnosis);
  CHECK(diagnosis.starts_with(
      "cause: unknown: rank 1 on h2 exited with status 7 by itself and printed no error"));
  CHECK(diagnosis.find("rank 0: RuntimeError: [../third_party/gloo") != std::string::npos);
}

TEST_CASE("what gdb prints on stdout counts where stderr shows no cause") {
  for (const bool in_files : {false, true}) {
    CAPTURE(in_files);
    Ended job(launch::LauncherKind::ssh);
    if (in_files) job.spec.output.mode = launch::OutputSpec::Mode::files;
    job.files.files["/runs/r/out/rank-0001.out"] =
        "Program received signal SIGSEGV, Segmentation fault.\n#0  work () at spin.c:9\n";
    job.run.record.program = {"python3", "train.py"};
    job.end(1, 255);
    const std::string diagnosis = job.diagnosis(255);
    CAPTURE(diagnosis);
    CHECK(diagnosis.starts_with(in_files ? "cause: a rank crashed (SIGSEGV) in work (spin.c:9) [E2]"
                                         : "cause: unknown: rank 1 on h2 exited with status 255"));
    CHECK((diagnosis.find("out/rank-0001.out:1: Program received") != std::string::npos) == in_files);
    CHECK((diagnosis.find("a program that returned -1") != std::string::npos) == in_files);
    CHECK((diagnosis.find("PYTHONFAULTHANDLER=1") != std::string::npos) == in_files);
    CHECK(diagnosis.find("-fsanitize") == std::string::npos);  // it is Python
  }
}

TEST_CASE("a rank that failed by itself is shown with its last lines") {
  Ended job(launch::LauncherKind::ssh, true);
  job.print(0, closed_by_peer);
  job.print(1, "bad thing\n");
  job.end(1, 3);
  job.end(0, 1);
  const std::string diagnosis = job.diagnosis(3);
  CAPTURE(diagnosis);
  CHECK(
      diagnosis.starts_with("cause: unknown: rank 1 on h2 exited with status 3 by itself, and its output "
                            "matches no known failure\n"));
  CHECK(diagnosis.find("  | bad thing\n") != std::string::npos);
}

TEST_CASE("the evidence of a crash is the line with its signal, not the error of another rank") {
  Ended job(launch::LauncherKind::ssh);
  job.print(0, closed_by_peer);
  job.end(1, 139, 11);
  job.end(0, 1);
  const std::string diagnosis = job.diagnosis(139);
  CAPTURE(diagnosis);
  CHECK(diagnosis.starts_with("cause: a rank crashed (SIGSEGV)"));
  CHECK(diagnosis.find("ddlrun: rank 1 on h2 failed first: it was ended by signal 11 (SIGSEGV)") !=
        std::string::npos);
  CHECK(diagnosis.find("Traceback") == std::string::npos);
}

TEST_CASE("an exception of all ranks is at the rank that failed first") {
  Ended job(launch::LauncherKind::ssh);
  for (const std::uint32_t rank : {0U, 1U})
    job.print(rank,
              "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: odd\n");
  job.end(1, 1);
  job.end(0, 1);
  const std::string diagnosis = job.diagnosis(1);
  CAPTURE(diagnosis);
  CHECK(diagnosis.find("at: all 2 ranks failed alike; the lines are those of rank 1 on h2\n") !=
        std::string::npos);
  CHECK(job.monitor->cause().fails_alike);
  Ended one(launch::LauncherKind::ssh);
  one.print(1, "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: odd\n");
  one.end(1, 1);
  one.end(0, 1);
  one.diagnosis(1);
  CHECK_FALSE(one.monitor->cause().fails_alike);
}

TEST_CASE("an exception of all ranks that names those whose calls differ names them") {
  Ended job(launch::LauncherKind::ssh);
  const std::string text =
      "rank 1 (h2) calls all_reduce #4 (sum) of 5 float32, rank 0 (h1) calls all_reduce #4 (sum) of 4 "
      "float32";
  for (const std::uint32_t rank : {0U, 1U})
    job.print(rank,
              "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\n    "
              "ddl.all_reduce(x)\nddl.errors.MismatchError: " +
                  text + "\n");
  job.end(1, 1, 0);
  job.end(0, 1, 0);
  const std::string diagnosis = job.diagnosis(1);
  CAPTURE(diagnosis);
  CHECK_FALSE(job.monitor->cause().fails_alike);
  CHECK(job.monitor->cause().mismatched_ranks == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("no rank is named where all ranks printed the same exception, whichever way they ended") {
  struct Row {
    const char* line;
    int status, signal;
    const char* at;
    bool alike;
  };
  const std::string all = "at: all 2 ranks failed alike";
  for (const Row& row : {
           Row{"ValueError: odd", 1, 0, "at: all 2 ranks failed alike", true},
           // abort() behind the exception, as by a handler of uncaught ones
           Row{"ValueError: odd", 134, SIGABRT, "at: all 2 ranks failed alike", true},
           // a signature of which the program's own line has the text too
           Row{"RuntimeError: CUDA error: no CUDA-capable device is detected", 1, 0,
               "at: all 2 ranks failed alike", true},
           // a signal from elsewhere is no part of what they printed
           Row{"ValueError: odd", 139, SIGSEGV, "at: all 2 ranks; the lines are those of rank 1", false},
       }) {
    CAPTURE(row.line);
    CAPTURE(row.signal);
    Ended job(launch::LauncherKind::ssh);
    const std::string text = row.line;
    const std::string message = text.substr(text.find(": ") + 2);
    for (const std::uint32_t rank : {0U, 1U})
      job.print(rank, "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    raise " +
                          text.substr(0, text.find(':')) + "(\"" + message + "\")\n" + text + "\n");
    job.end(1, row.status, row.signal);
    job.end(0, row.status, row.signal);
    const std::string diagnosis = job.diagnosis(row.status);
    CAPTURE(diagnosis);
    CHECK(job.monitor->cause().fails_alike == row.alike);
    if (row.signal != SIGSEGV) CHECK(diagnosis.find(row.at) != std::string::npos);
    CHECK((diagnosis.find(all) != std::string::npos) == row.alike);
    std::multiset<std::string_view> lines;
    for (const std::string_view line : split(diagnosis, '\n'))
      if (line.starts_with("  stderr:")) lines.insert(line);
    for (const std::string_view line : lines) CHECK(lines.count(line) == 1);
  }
}

TEST_CASE("an option that all ranks refuse is at all of them") {
  Ended job(launch::LauncherKind::ssh);
  for (const std::uint32_t rank : {0U, 1U})
    job.print(rank, "usage: train.py [-h]\ntrain.py: error: unrecognized arguments: --batch 3\n");
  job.end(1, 2);
  job.end(0, 2);
  const std::string diagnosis = job.diagnosis(2);
  CAPTURE(diagnosis);
  CHECK(diagnosis.find("at: all 2 ranks failed alike") != std::string::npos);
  CHECK(job.monitor->cause().fails_alike);
}

namespace {

constexpr const char* key_error =
    "Traceback (most recent call last):\n  File \"train.py\", line 30, in <module>\n"
    "    total += sample[\"label\"]\nKeyError: 'label'\n";

// The rank whose connection was closed ends a moment before the one that closed it.
struct KeyErrorOfRank1 : Ended {
  explicit KeyErrorOfRank1(launch::LauncherKind kind, bool frames_stderr = false)
      : Ended(kind, frames_stderr) {
    print(1, key_error);
    print(0, closed_by_peer);
    end(0, 1);
  }
};

}  // namespace

TEST_CASE("the rank that printed the exception failed first, whichever end is reported first") {
  KeyErrorOfRank1 job(launch::LauncherKind::ssh);
  job.end(1, 1);
  const std::string diagnosis = job.diagnosis(1);
  CAPTURE(diagnosis);
  CHECK(diagnosis.find("at: rank 1 on h2\n") != std::string::npos);
  CHECK(diagnosis.find("rank 0 on h1 failed first") == std::string::npos);
  CHECK(job.monitor->cause().missed_rank == diagnose::Place{1, "h2"});
  CHECK_FALSE(job.monitor->cause().is_shared);
  KeyErrorOfRank1 ended_by_launcher(launch::LauncherKind::ssh);
  ended_by_launcher.end(1, 143, 15);
  ended_by_launcher.diagnosis(1);
  CHECK(ended_by_launcher.monitor->cause().missed_rank == diagnose::Place{1, "h2"});
  // A rank that printed nothing may be the reason for the exception of another.
  Ended silent(launch::LauncherKind::ssh);
  silent.print(1, key_error);
  silent.end(0, 3);
  silent.end(1, 1);
  silent.diagnosis(3);
  CHECK_FALSE(silent.monitor->cause().missed_rank);
}

TEST_CASE(
    "frames of stderr show under every launcher which rank printed the exception, and stay off the screen") {
  for (const auto kind :
       {launch::LauncherKind::open_mpi, launch::LauncherKind::mpich, launch::LauncherKind::srun}) {
    KeyErrorOfRank1 job(kind, true);
    job.end(1, 1);
    const std::string diagnosis = job.diagnosis(1);
    CAPTURE(diagnosis);
    CHECK(diagnosis.starts_with("cause: KeyError: 'label' (train.py:30)"));
    CHECK(diagnosis.find("at: rank 1 on h2\n") != std::string::npos);
    CHECK(diagnosis.find("--rank-output") == std::string::npos);
    CHECK(job.monitor->cause().missed_rank == diagnose::Place{1, "h2"});
    CHECK_FALSE(job.monitor->cause().is_shared);
    CHECK(job.err.find(key_error) == 0);
    CHECK(job.err.find(closed_by_peer) == std::string(key_error).size());
  }
}

TEST_CASE("the unfinished line of a rank, such as a progress bar, takes no line of another rank") {
  for (const auto kind : {launch::LauncherKind::ssh, launch::LauncherKind::open_mpi}) {
    Ended job(kind, kind != launch::LauncherKind::ssh);
    const std::string error = key_error;
    const std::size_t last = error.rfind("KeyError");
    job.print(1, error.substr(0, last));
    job.print(0, "\r 10%|#         | 1/10");
    const auto hooks = job.monitor->hooks();
    for (int i = 0; i < 3; ++i) {
      job.clock.passed += std::chrono::seconds(1);
      hooks.tick({});
    }
    CHECK(job.err.ends_with("\r 10%|#         | 1/10"));
    job.print(1, error.substr(last));
    job.print(0, "\r 20%|##        | 2/10");
    job.print(0, "\n");
    job.end(1, 1);
    job.end(0, 143, 15);
    const std::string diagnosis = job.diagnosis(1);
    CAPTURE(diagnosis);
    CHECK(diagnosis.find("at: rank 1 on h2\n") != std::string::npos);
    CHECK(diagnosis.starts_with("cause: KeyError: 'label' (train.py:30)"));
  }
}

TEST_CASE("what the launcher prints stands behind the stderr of ranks that came before it") {
  Ended job(launch::LauncherKind::open_mpi, true);
  job.print(1, "half a line, ");
  job.monitor->hooks().on_stderr_line("mpirun: aborting\n");
  job.print(1, "the rest\n");
  job.diagnosis(1);
  CHECK(job.err == "mpirun: aborting\nhalf a line, the rest\n");
  Ended whole(launch::LauncherKind::open_mpi, true);
  whole.print(1, "a line\n");
  whole.monitor->hooks().on_stderr_line("mpirun: aborting\n");
  CHECK(whole.err == "a line\nmpirun: aborting\n");
}

TEST_CASE("no rank is named for an exception whose line has none where several fail at once") {
  for (const auto kind : {launch::LauncherKind::open_mpi, launch::LauncherKind::mpich}) {
    KeyErrorOfRank1 job(kind);
    job.end(1, 1);
    const std::string diagnosis = job.diagnosis(1);
    CAPTURE(diagnosis);
    CHECK(diagnosis.starts_with("cause: KeyError: 'label' (train.py:30)"));
    CHECK(diagnosis.find("at: ") == std::string::npos);
    CHECK(diagnosis.find("rank 0") == std::string::npos);
    CHECK(job.monitor->cause().is_shared);
    CHECK_FALSE(job.monitor->cause().missed_rank);
  }
  // The launcher ended the other.
  KeyErrorOfRank1 alone(launch::LauncherKind::open_mpi);
  alone.end(1, 143, 15);
  alone.diagnosis(1);
  CHECK_FALSE(alone.monitor->cause().is_shared);
  // A second later is no moment.
  KeyErrorOfRank1 later(launch::LauncherKind::open_mpi);
  later.clock.passed += std::chrono::seconds(2);
  later.end(1, 1);
  later.diagnosis(1);
  CHECK_FALSE(later.monitor->cause().is_shared);
}

TEST_CASE("the rank that libddl names failed first, also where its own words are the cause") {
  for (const auto kind :
       {launch::LauncherKind::ssh, launch::LauncherKind::open_mpi, launch::LauncherKind::mpich}) {
    Ended job(kind);
    job.print(0, "rank 0: STD an exception ended the Context of rank 1 (h2)\n");
    job.print(1, "rank 1: STD my own exception: cannot read shard 7\n");
    job.end(0, 1);
    job.end(1, 1);
    const std::string diagnosis = job.diagnosis(1);
    CAPTURE(diagnosis);
    CHECK(diagnosis.find("cannot read shard 7 [L20]") != std::string::npos);
    CHECK(diagnosis.find("at: rank 1 on h2\n") != std::string::npos);
    CHECK(diagnosis.find("rank 0 on h1") == std::string::npos);
    CHECK(job.monitor->cause().missed_rank == diagnose::Place{1, "h2"});
  }
}

TEST_SUITE_END();
