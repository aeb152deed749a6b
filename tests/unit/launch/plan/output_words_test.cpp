// SPDX-License-Identifier: MIT
#include "launch/plan/output_words.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::launch;

namespace {

bool shapes(LauncherKind kind, const std::vector<std::string>& words, const EnvVars& environment = {}) {
  return shapes_output(kind, {{}, words, false, false}, environment);
}

}  // namespace

TEST_SUITE_BEGIN("launch/plan/output_words");

// By the options of srun(1) of Slurm 22.05.
TEST_CASE("srun's options with a value, apart or attached, alone or behind letters without a value") {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"-o", "FILE"},
                                                                                     {"-oFILE"},
                                                                                     {"-e", "FILE"},
                                                                                     {"-eFILE"},
                                                                                     {"-uoFILE"},
                                                                                     {"-Qve", "FILE"},
                                                                                     {"--output=FILE"},
                                                                                     {"--output", "FILE"},
                                                                                     {"--outp=FILE"},
                                                                                     {"--error=FILE"},
                                                                                     {"--err", "FILE"}}) {
    CAPTURE(words.front());
    CHECK(shapes(LauncherKind::srun, words));
    CHECK(redirects_stderr(LauncherKind::srun, words));
  }
  for (const char* word : {"-l", "--label", "--lab", "-ul"}) {
    CAPTURE(word);
    CHECK(shapes(LauncherKind::srun, {word}));
    CHECK_FALSE(redirects_stderr(LauncherKind::srun, {word}));
  }
  for (const char* word : {"-u", "-O", "-Jname-oe", "-wnode1,hole", "-D/home/output", "-pleo", "--exclusive",
                           "--overcommit", "--licenses=a", "--open-mode=append", "--", "-", "FILE"}) {
    CAPTURE(word);
    CHECK_FALSE(shapes(LauncherKind::srun, {word}));
    CHECK_FALSE(redirects_stderr(LauncherKind::srun, {word}));
  }
}

TEST_CASE("mpirun's options are whole words, also behind one dash") {
  for (const char* word : {"-oversubscribe", "--enable-recovery", "-launch-agent", "--xyz=-oFILE"}) {
    CAPTURE(word);
    CHECK_FALSE(shapes(LauncherKind::open_mpi, {word}));
    CHECK_FALSE(redirects_stderr(std::nullopt, {word}));
  }
  CHECK(shapes(LauncherKind::open_mpi, {"--output-filename", "logs"}));
  CHECK(redirects_stderr(std::nullopt, {"--output-filename", "logs"}));
  CHECK(redirects_stderr(LauncherKind::open_mpi, {"--merge-stderr-to-stdout"}));
  CHECK(shapes(LauncherKind::mpich, {"-l"}));
  CHECK(shapes(LauncherKind::mpich, {"-prepend-rank"}));
  CHECK(shapes(LauncherKind::mpich, {"-errfile-pattern", "e.%r"}));
  CHECK(redirects_stderr(LauncherKind::mpich, {"-errfile-pattern", "e.%r"}));
  CHECK_FALSE(redirects_stderr(LauncherKind::mpich, {"-outfile-pattern", "o.%r"}));
}

TEST_CASE("other words that shape output") {
  CHECK(shapes_output(LauncherKind::open_mpi, {{}, {}, true, false}, {}));
  CHECK(shapes_output(LauncherKind::open_mpi, {{{"orte_tag_output", "1"}}, {}, false, false}, {}));
  CHECK(shapes(LauncherKind::srun, {}, {{"SLURM_LABELIO", "1"}}));
  CHECK_FALSE(shapes(LauncherKind::srun, {}, {{"SLURM_JOB_ID", "7"}}));
}

TEST_SUITE_END();
