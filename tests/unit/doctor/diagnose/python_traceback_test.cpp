// SPDX-License-Identifier: MIT
#include "doctor/diagnose/python_traceback.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/python_traceback");

namespace {

struct Row {
  std::string text;
  const char* title;
  int rank;
};

void check(const Row& row) {
  CAPTURE(row.text);
  const Diagnosis diagnosis = diagnose_text(row.text);
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "E24");
  CHECK(diagnosis.cause->title == row.title);
  CHECK(diagnosis.verdict == Verdict::cause_found);
  const auto rank = diagnosis.cause->place.rank;
  CHECK((rank ? static_cast<int>(*rank) : -1) == row.rank);
}

}  // namespace

TEST_CASE("a variable that no shell has expanded is named first") {
  const auto first_remedy = [](const std::string& message) {
    const auto found = diagnose_text(
        "Traceback (most recent call last):\n  File \"/me/t.py\", line 3, in f\n"
        "    g()\nValueError: " +
        message + "\n");
    return found.cause->remedies.front();
  };
  const std::string torchrun =
      "The hostname of the rendezvous endpoint '$MASTER_ADDR:29500' must be a dot-separated list of labels";
  CHECK(first_remedy(torchrun) ==
        "bash -c 'exec PROGRAM ... \"$MASTER_ADDR\" ...'   # $MASTER_ADDR came as text: no shell had "
        "expanded it");
  CHECK(first_remedy("no directory ${DATA_ROOT}/train").find("$DATA_ROOT came as text") != std::string::npos);
  for (const char* message :
       {"costs 5$ or $5", "bad regex ^a$", "the key $ref", "path a$HOME", "${A}", "$X"}) {
    CAPTURE(message);
    CHECK(first_remedy(message).find("came as text") == std::string::npos);
  }
}

TEST_CASE("the exception and the program's own line are the title") {
  const std::string head = "Traceback (most recent call last):\n";
  const std::string deep = [] {
    std::string frames;
    for (int i = 0; i < 300; ++i)
      frames +=
          "  File \"/home/me/walk.py\", line " + std::to_string(i + 1) + ", in walk\n    return walk(tree)\n";
    return frames;
  }();
  const Row rows[] = {
      // Python 3.11, with markers below the source text
      {head + "  File \"/home/me/train.py\", line 18, in <module>\n    main()\n"
              "  File \"/usr/lib/python3/dist-packages/torch/nn.py\", line 7, in forward\n    check(x)\n    "
              "^^^^^^^^\n"
              "ValueError: labels out of range\n",
       "ValueError: labels out of range (train.py:18)", -1},
      // the outermost frame outside of libraries is the script of a console command
      {head + "  File \"/usr/bin/torchrun\", line 33, in <module>\n    "
              "sys.exit(load_entry_point('torch==1.13.1', "
              "'console_scripts', 'torchrun')())\n"
              "  File \"/usr/lib/python3/dist-packages/torch/distributed/run.py\", line 762, in main\n    "
              "run(args)\nValueError: Unsupported nproc_per_node value: x\n",
       "ValueError: Unsupported nproc_per_node value: x (run.py:762)", -1},
      {head + "  File \"/home/me/venv/bin/accelerate\", line 8, in <module>\n    sys.exit(main())\n"
              "  File \"/home/me/train.py\", line 4, in f\n    g()\nValueError: bad\n",
       "ValueError: bad (train.py:4)", -1},
      {head + "  File \"/home/me/bin/train\", line 9, in <module>\n    main(options)\n"
              "  File \"/usr/lib/python3/dist-packages/torch/nn.py\", line 7, in forward\n    check(x)\n"
              "ValueError: odd\n",
       "ValueError: odd (train:9)", -1},
      // no head: the log was cut
      {"  File \"train.py\", line 3, in f\n    g()\nMyOwnProblem: odd\n", "MyOwnProblem: odd (train.py:3)",
       -1},
      // an exception without a message; Python 2
      {head + "  File \"train.py\", line 3, in f\n    assert n > 0\nAssertionError\n",
       "AssertionError: assert n > 0 (train.py:3)", -1},
      {head + "  File \"train.py\", line 9\n    print x\n          ^\nSyntaxError: Missing parentheses\n",
       "SyntaxError: Missing parentheses (train.py:9)", -1},
      {head + deep + "RecursionError: maximum recursion depth exceeded\n",
       "RecursionError: maximum recursion depth exceeded (walk.py:300)", -1},
      // prefixes of mpirun, torchrun and srun
      {"[1,3]<stderr>:" + head +
           "[1,3]<stderr>:  File \"a.py\", line 1, in f\n[1,3]<stderr>:    g()\n"
           "[1,3]<stderr>:KeyError: 'x'\n",
       "KeyError: 'x' (a.py:1)", 3},
      {"[rank2]: " + head +
           "[rank2]:   File \"a.py\", line 1, in f\n[rank2]:     g()\n[rank2]: IndexError: 7\n",
       "IndexError: 7 (a.py:1)", 2},
      // two ranks, line by line
      {"0: " + head + "1: " + head +
           "0:   File \"a.py\", line 1, in f\n1:   File \"b.py\", line 2, in g\n"
           "0:     g()\n1:     h()\n1: TypeError: no\n0: KeyError: 'x'\n",
       "KeyError: 'x' (a.py:1)", 0},
  };
  for (const Row& row : rows) check(row);
}

bool is_first_cause(const std::string& text) {
  const Diagnosis diagnosis = diagnose_text(text);
  return diagnosis.verdict == Verdict::cause_found && diagnosis.cause->id == "E24";
}

TEST_CASE("of a chain the exception that explains more is the title") {
  const std::string first =
      "Traceback (most recent call last):\n  File \"io.py\", line 4, in save\n    f.write(x)\n";
  const std::string second =
      "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    save()\n";
  const std::string handled = "\nDuring handling of the above exception, another exception occurred:\n\n";
  const std::string direct = "\nThe above exception was the direct cause of the following exception:\n\n";
  check(
      {first + "OSError: [Errno 52] Invalid exchange\n" + handled + second + "RuntimeError: unexpected pos\n",
       "OSError: [Errno 52] Invalid exchange (io.py:4), then RuntimeError: unexpected pos (train.py:9)", -1});
  check({first + "KeyError: 'lr'\n" + handled + second + "ValueError: the option lr is missing\n",
         "ValueError: the option lr is missing (train.py:9)", -1});
  check({first + "KeyError: 'lr'\n" + direct + second + "RuntimeError: cannot save\n",
         "RuntimeError: cannot save (train.py:9), from KeyError: 'lr' (io.py:4)", -1});
  // What reports another process is no cause, whatever it is raised again as.
  CHECK_FALSE(is_first_cause(first + "ConnectionResetError: [Errno 104] Connection reset by peer\n" + direct +
                             second + "RuntimeError: the ranks disagree\n"));
}

TEST_CASE("of a chain the report has the messages of all exceptions") {
  const std::string text =
      "Traceback (most recent call last):\n  File \"chain.py\", line 3, in parse\n    return int('12a')\n"
      "ValueError: invalid literal for int() with base 10: '12a'\n"
      "\nThe above exception was the direct cause of the following exception:\n\n"
      "Traceback (most recent call last):\n  File \"chain.py\", line 5, in <module>\n    parse('a.in')\n"
      "RuntimeError: input deck a.in line 17: bad NSTEPS\n";
  const Diagnosis diagnosis = diagnose_text(text);
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "H119");
  CHECK(diagnosis.cause->title.ends_with(
      "; the program ends with RuntimeError: input deck a.in line 17: bad NSTEPS "
      "(chain.py:5)"));
}

TEST_CASE("an exception that reports another process is a consequence") {
  const std::string trace = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\n";
  const Row second{
      trace + "torch.distributed.elastic.ChildFailedError: train.py FAILED\n" + trace + "ValueError: odd\n",
      "ValueError: odd (a.py:1)", -1};
  check(second);
  CHECK(is_consequence_exception("ConnectionResetError", "[Errno 104] Connection reset by peer"));
  CHECK(is_consequence_exception("RuntimeError", "Broken pipe"));
  CHECK(
      !is_consequence_exception("torch.distributed.DistBackendError", "NCCL error: unhandled system error"));
  CHECK(!is_consequence_exception("RuntimeError", "CUDA error: out of memory"));
}

TEST_CASE("the name of an exception is recognized at the beginning of a line") {
  for (const char* line :
       {"ValueError: x", "KeyboardInterrupt", "torch.cuda.OutOfMemoryError: no", "SystemExit: 2"}) {
    CAPTURE(line);
    CHECK(exception_text(line).has_value());
  }
  for (const char* line :
       {"Error: x", "validation error: 3", "INFO: ok", "the ValueError: x", "error", "errorExit: 1"}) {
    CAPTURE(line);
    CHECK(!exception_text(line).has_value());
  }
}

TEST_CASE("where a kernel's own line stands before the exception, the program's line is evidence too") {
  const std::string kernel =
      "Indexing.cu:1290: indexSelectLargeIndex: block: [182,0,0], thread: [0,0,0] Assertion `srcIndex < "
      "srcSelectDimSize` failed.\n";
  const Diagnosis diagnosis = diagnose_text(
      "step 1\n" + kernel +
      "Traceback (most recent call last):\n  File \"/home/me/train.py\", line 88, in main\n    step(x)\n"
      "RuntimeError: CUDA error: device-side assert triggered\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "K77");
  REQUIRE(diagnosis.cause->evidence.size() == 3);
  CHECK(diagnosis.cause->evidence[0].line == 2);
  CHECK(diagnosis.cause->evidence[1].text == "File \"/home/me/train.py\", line 88, in main");
  CHECK(diagnosis.also_seen.empty());
}

TEST_CASE("ranks that all fail alike: none of them is named as the first") {
  const auto log = [](int ranks, bool tagged, int other = -1) {
    std::string text;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string tag = tagged ? "[" + std::to_string(rank) + "] " : "";
      const std::string key = rank == other ? "'other'" : "'batch'";
      for (const char* line :
           {"Traceback (most recent call last):", "  File \"/me/t.py\", line 4, in <module>", "    x[key]"})
        text += tag + line + "\n";
      text += tag + "KeyError: " + key + "\n";
    }
    return text;
  };
  const auto diagnosed = [](const std::string& text, std::uint32_t ranks) {
    RunStatus end{1, LogSource::mpirun};
    end.ranks = ranks;
    return diagnose_text(text, end);
  };
  const auto end_line = [](int ranks) {
    return "ddlrun: all " + std::to_string(ranks) + " ranks failed alike: exit status 1\n";
  };
  // More ranks than exceptions are kept.
  for (const int ranks : {2, 4, 64}) {
    for (const bool tagged : {false, true}) {
      CAPTURE(ranks);
      CAPTURE(tagged);
      const std::string text_of_all = log(ranks, tagged) + (tagged ? "" : end_line(ranks));
      const Diagnosis all = diagnosed(text_of_all, static_cast<std::uint32_t>(ranks));
      REQUIRE(all.cause);
      CHECK(all.cause->fails_alike);
      const std::string text = render_diagnosis(all);
      const std::string who = "at: all " + std::to_string(ranks) + " ranks failed alike";
      CHECK(text.find(tagged ? who + "; the lines are those of rank 0\n" : who + "\n") != std::string::npos);
      CHECK(text.find("first to fail") == std::string::npos);
      CHECK(text.find("prints the rank on each line") == std::string::npos);
    }
  }
  CHECK_FALSE(diagnosed(log(4, true, 2), 4).cause->fails_alike);
  CHECK_FALSE(diagnosed(log(4, false, 2), 4).cause->fails_alike);
  // One rank of two may have logged it, and raised it again.
  const Diagnosis one = diagnosed(log(2, false), 2);
  CHECK_FALSE(one.cause->fails_alike);
  CHECK(render_diagnosis(one).find("failed alike") == std::string::npos);
  CHECK_FALSE(diagnosed(log(2, false) + end_line(4), 2).cause->fails_alike);
  CHECK_FALSE(diagnosed(log(4, true), 8).cause->fails_alike);
  CHECK_FALSE(diagnosed(log(1, true), 1).cause->fails_alike);
  CHECK_FALSE(diagnosed(log(4, true), 0).cause->fails_alike);  // how many there are is not known
  CHECK(diagnosed(log(4, true) + end_line(4), 0).cause->fails_alike);
  CHECK(render_diagnosis(diagnosed(log(4, false) + end_line(4), 0)).find("at: all 4 ranks failed alike\n") !=
        std::string::npos);
}

TEST_SUITE_END();
