// SPDX-License-Identifier: MIT
#include "cli/dry_run_notes.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace ddlrun;
using namespace ddlrun::cli;
using schedulers::SchedulerKind;
using topology::RankOrder;

TEST_SUITE_BEGIN("cli/dry_run_notes");

// rank = x*(Y*Z*A) + y*(Z*A) + z*A + a, and hosts are listed rack by rack (ARCHITECTURE.md): of 4x2x3 rank 1
// is the first of rack 2, which is host 3.
TEST_CASE("the order of ranks") {
  CHECK(order_note({4, 4, 1, 1}, RankOrder::ddl) ==
        "ddlrun: order: ddl: rank 1 is on node 2; --order packed fills node 1 first\n");
  CHECK(order_note({4, 2, 3, 1}, RankOrder::ddl).find("rank 1 is on node 3;") != std::string::npos);
  CHECK(order_note({4, 4, 1, 1}, RankOrder::packed) ==
        "ddlrun: order: packed: ranks 0 to 3 are on node 1, then node 2 is filled\n");
  CHECK(order_note({4, 1, 1, 1}, RankOrder::ddl).empty());
  CHECK(order_note({1, 4, 1, 1}, RankOrder::ddl).empty());
}

TEST_CASE("which lines hand the script in") {
  schedulers::JobSpec job;
  schedulers::PreparedJob prepared;
  prepared.dir = {"/home/me/ddlrun-jobs/a b"};
  prepared.submit = {"sbatch", "--parsable", prepared.dir.script()};
  job.scheduler = SchedulerKind::slurm;
  const std::string slurm = hand_in_note(job, prepared, "Slurm");
  CHECK(slurm.find("fails a job at once:\nmkdir -p '/home/me/ddlrun-jobs/a b'\nsbatch --parsable job.sh\n") !=
        std::string::npos);
  job.scheduler = SchedulerKind::pbs;
  prepared.submit = {"qsub", prepared.dir.script()};
  const std::string pbs = hand_in_note(job, prepared, "PBS");
  CHECK(pbs.find("mkdir") == std::string::npos);
  CHECK(pbs.ends_with(":\nqsub job.sh\n"));
  job.script_template = "my.sh";  // which need not make the directory
  CHECK(hand_in_note(job, prepared, "PBS").find("\nmkdir -p ") != std::string::npos);
}

TEST_CASE("paths of this host in the script of another") {
  schedulers::JobSpec job;
  job.ddlrun = "/home/me/bin/ddlrun";
  job.workdir = "/home/me/work";
  schedulers::JobSettings settings;
  settings["ddlrun"].origin = "this ddlrun";
  CHECK(foreign_paths_note(job, settings, "qsub") ==
        "ddlrun: note: no qsub here, and the script has of this host its ddlrun /home/me/bin/ddlrun and its "
        "working directory /home/me/work; --ddlrun PATH and --workdir DIR name those of the cluster\n");
  settings["ddlrun"].origin = "--ddlrun";
  settings["workdir"].origin = "the current directory";
  CHECK(foreign_paths_note(job, settings, "qsub")
            .find("has of this host its working directory /home/me/work; "
                  "--workdir DIR names that") != std::string::npos);
  settings["workdir"].origin = "ddlrun.yaml:3:1";
  CHECK(foreign_paths_note(job, settings, "qsub").empty());
}

TEST_CASE("an option of ddlrun behind --") {
  constexpr std::array<std::string_view, 2> own{"--dry-run", "--detach"};
  const auto found = find_own_option("ddlrun submit", own, {"python3", "train.py", "--dry-run"});
  REQUIRE(found);
  CHECK(found->what == "--dry-run behind '--' goes to the program, and is no option of ddlrun submit there");
  CHECK(found->hint == "ddlrun submit --dry-run ... -- python3   # if ddlrun submit is meant");
  CHECK(!find_own_option("ddlrun submit", own, {"python3", "train.py", "--dry-run=no"}));
  CHECK(!find_own_option("ddlrun submit", own, {"--detach"}));
  CHECK(!find_own_option("ddlrun submit", own, {}));
}

TEST_SUITE_END();
