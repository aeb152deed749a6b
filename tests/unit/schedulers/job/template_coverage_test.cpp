// SPDX-License-Identifier: MIT
// What a user's own template would lose of a job.
#include "schedulers/job/template_coverage.hpp"

#include "schedulers/job/script_forms.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

struct Lost {
  std::string keys, first_line;
};

Lost lost(const std::string& yaml, const std::set<std::string>& placeholders, const std::string& scheduler) {
  std::vector<Message> errors;
  JobSettings settings = read_job_settings(yaml, "ddlrun.yaml", errors);
  settings["scheduler"] = flag_setting("scheduler", scheduler, "--" + scheduler);
  settings["template"] = flag_setting("template", "/t/my.sh", "--template");
  settings["workdir"] = flag_setting("workdir", "/w", "the current directory");
  const ParsedJob parsed = read_job(settings);
  REQUIRE(errors.empty());
  REQUIRE(parsed.errors.empty());
  Lost found;
  for (const DroppedSetting& fact : dropped_settings(parsed.job, settings, placeholders)) {
    found.keys += (found.keys.empty() ? "" : " ") + fact.key;
    if (found.first_line.empty()) found.first_line = fact.placeholder;
  }
  return found;
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/job/template_coverage");

TEST_CASE("what has no placeholder is found, with the line to add") {
  struct Row {
    std::string scheduler, yaml;
    std::set<std::string> placeholders;
    std::string keys, line;
  };
  const std::set<std::string> none;
  const std::vector<Row> rows{
      {"slurm", "dims: 4x2x1", none, "dims",
       "#SBATCH --nodes={{nodes|int}} --ntasks-per-node={{ranks_per_node|int}}"},
      {"slurm", "dims: 4x2x1", {"nodes"}, "dims", "#SBATCH --ntasks-per-node={{ranks_per_node|int}}"},
      {"slurm", "dims: 1x2x1", {"nodes"}, "", ""},
      {"slurm", "dims: 4x2x1", {"launch"}, "", ""},
      {"slurm", "dims: 1x1x1\nwalltime: 4h", {"dims"}, "walltime", "#SBATCH --time={{walltime|sbatch}}"},
      {"slurm", "dims: 1x1x1\nwalltime: 4h", {"dims", "walltime_seconds"}, "", ""},
      {"pbs", "dims: 1x1x1\nwalltime: 4h", {"dims"}, "walltime", "#PBS -l walltime={{walltime|pbs}}"},
      {"local",
       "dims: 1x1x1\nwalltime: 4h",
       {"dims"},
       "walltime",
       "timeout {{walltime_seconds|int}} {{program|sh}}"},
      {"pbs",
       "dims: 1x1x1\nqueue: q\nmail: a@b.org\nmodules: [gcc]",
       {"dims"},
       "queue modules mail",
       "#PBS -q {{queue|pbs}}"},
      {"local", "dims: 1x1x1\nqueue: q", {"dims"}, "", ""},  // reported already: ignored
      {"slurm",
       "dims: 1x1x1\ndoctor: off\nrunner: none\nrequeue: no\norder: ddl\naffinity: auto",
       {"dims"},
       "",
       ""},
      {"slurm", "dims: 1x1x1\ndoctor: warn\nsetup: ulimit -c 0", {"dims"}, "setup doctor", ""},
      {"slurm",
       "dims: 1x1x1\ndata: {from: /a, to: /b}",
       {"dims", "data"},
       "data",
       "cp -R {{data|sh}}/. {{data_to|sh}}"},
      {"slurm", "dims: 1x1x1\nenvironment: [A=1]", {"dims", "environment"}, "", ""},
      {"slurm", "dims: 1x1x1\nenvironment: [\"NCCL_*\"]", {"dims", "environment"}, "environment", ""},
      {"slurm",
       "dims: 1x1x1\nprogram: ./a\noutput: o.log",
       {"dims"},
       "program output",
       "exec {{program|sh}}"},
      {"slurm", "dims: 1x1x1\nwalltime: 1h\nsignal: USR1@60", {"dims", "walltime", "signal"}, "", ""},
      {"pbs", "dims: 1x1x1\nwalltime: 1h\nsignal: USR1@60", {"dims", "walltime", "signal"}, "signal", ""},
      {"slurm",
       "dims: 1x1x1\nlauncher: auto\nmem_bind: local\nvisible_gpus: one",
       {"dims"},
       "visible_gpus",
       "exec {{launch|sh}}"},
      {"pbs", "dims: 1x1x1\noutput: o.log", {"dims"}, "output", "exec >>{{output|sh}} 2>&1"},
      {"torque", "dims: 1x1x1\noutput: o.log", {"dims"}, "output", "#PBS -o {{output|pbs}}"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.scheduler);
    CAPTURE(row.yaml);
    const Lost found = lost(row.yaml, row.placeholders, row.scheduler);
    CHECK(found.keys == row.keys);
    CHECK(found.first_line == row.line);
  }
}

TEST_CASE("what cannot be followed is reported or refused") {
  const std::string end = "\nend() { echo $? >{{exit_status_file|sh}}; }";
  const auto remarks = [](const JobSpec& of, const std::string& text) {
    return template_remarks(
        of, templates::fill_template(text, "my.sh", template_values(of, {"/w/j"}), template_rules(of)));
  };
  const auto has = [](const std::vector<std::string>& texts, const std::string& what,
                      const std::string& line) {
    return texts.size() == 1 && texts[0].find(what) != std::string::npos &&
           texts[0].find(line) != std::string::npos;
  };
  JobSpec job;
  job.script_template = "/t/my.sh";
  job.program = {"./a"};
  job.scheduler = SchedulerKind::slurm;
  CHECK(remarks(job, "").size() == 2);
  CHECK(remarks(job, "#SBATCH -o {{output|sbatch}}" + end).empty());
  job.scheduler = SchedulerKind::pbs;
  const std::string line = ": exec >>{{output|sh}} 2>&1";
  CHECK(has(remarks(job, end), "no placeholder for output", line));
  CHECK(
      has(remarks(job, "#PBS -o {{output|pbs}}" + end), "PBS writes the file of -o at the job's end", line));
  CHECK(has(remarks(job, "#PBS -o {{output|pbs}}\nexec >>{{output|sh}} 2>&1" + end), "over the log",
            "-o {{scheduler_log|pbs}}"));
  CHECK(remarks(job, "#PBS -o {{scheduler_log|pbs}}\nexec >>{{output|sh}} 2>&1" + end).empty());
  job.scheduler = SchedulerKind::slurm;
  CHECK(check_template(job, {"output"}, "/w/ddlrun-jobs/a").empty());
  CHECK(check_template(job, {"output"}, "/w%j/ddlrun-jobs/a").size() == 1);
  job.scheduler = SchedulerKind::torque;  // qsub is reported where the log goes
  CHECK(remarks(job, end).empty());
  job.scheduler = SchedulerKind::local;
  CHECK(check_template(job, {}, "/w").size() == 1);
  CHECK(check_template(job, {"exit_status_file"}, "/w").empty());
  job.program.clear();
  CHECK(check_template(job, {"exit_status_file", "program"}, "/w").size() == 1);
}

TEST_SUITE_END();
