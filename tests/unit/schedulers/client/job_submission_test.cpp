// SPDX-License-Identifier: MIT
// A job from its options to sbatch's command line: settings of all layers, directory, files, history.
#include "schedulers/client/job_submission.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_dependencies.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/client/job_template.hpp"
#include "schedulers/client/node_fit.hpp"
#include "schedulers/client/scheduler_access.hpp"
#include "schedulers/job/job_settings_text.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <tuple>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

struct Submitted : tests::FakeSystem {
  System system = interfaces();
  JobOptions options;

  Submitted() {
    environment.workdir = "/work";
    environment.variables["HOME"] = "/home/none";
    clock.time =
        std::chrono::system_clock::time_point(std::chrono::seconds(1795231154));  // 2026-11-21T03:19:14Z
    options.slurm = true;
    options.dims = "4x2";
    options.flags = {{"walltime", {"1h"}}, {"name", {"lenet"}}};
    options.program = {"./train"};
    processes.answer = [](const Command& command) {
      ProcessResult result;
      if (std::ranges::find(command, "sbatch") != command.end()) result.out = "4711\n";
      return result;
    };
  }
  JobRequest request() {
    JobRequest wanted = load_job_request(system, options, ask_once(system));
    for (const Message& error : wanted.parsed.errors) FAIL_CHECK(error.where, ": ", error.what);
    return wanted;
  }
  std::vector<std::string> errors() {
    std::vector<std::string> texts;
    JobRequest wanted = load_job_request(system, options, ask_once(system));
    if (wanted.parsed.errors.empty()) read_template(system, wanted);
    for (const Message& error : wanted.parsed.errors) texts.push_back(error.where + ": " + error.what);
    return texts;
  }
  JobRef submit(const JobRequest& wanted) {
    return submit_job(system, wanted, *slurm,
                      prepare_job(system, wanted, *slurm, find_job_dir(system, wanted.parsed.job)));
  }
  std::unique_ptr<Scheduler> slurm = make_scheduler(SchedulerKind::slurm);
};

}  // namespace

TEST_SUITE_BEGIN("schedulers/client/job_submission");

TEST_CASE("flags win over ddlrun.yaml, that over the user's configuration") {
  Submitted job;
  job.files.files["ddlrun.yaml"] = "memory: 8G\nwalltime: 9h\nqueue: short\n";
  job.environment.variables["XDG_CONFIG_HOME"] = "/config";
  job.files.files["/config/ddlrun/config.yaml"] = "queue: long\naccount: lab\n";
  const JobRequest wanted = job.request();
  CHECK(wanted.settings.at("walltime").origin == "--walltime");
  CHECK(wanted.parsed.job.queue == "short");
  CHECK(wanted.settings.at("queue").origin.starts_with("ddlrun.yaml:3"));
  CHECK(wanted.settings.at("account").value.text == "lab");
}

TEST_CASE(
    "the user's configuration wins over the centre's, which is one of all jobs; a profile has its own") {
  Submitted job;
  job.environment.variables["HOME"] = "/home/me";
  job.files.files["/home/me/.config/ddlrun/config.yaml"] = "# later\n";
  job.files.files["/opt/ddlrun/etc/ddlrun/config.yaml"] = "site: lab\naccount: near\n";
  job.files.files["/etc/ddlrun/config.yaml"] = "account: far\nqos: long\nnodes: 9\n";
  job.files.files["/etc/ddlrun/sites/lab.yaml"] = "scheduler: slurm\ndefaults: {qos: short, queue: gpu}\n";
  const JobRequest wanted = job.request();
  CHECK(wanted.parsed.job.account == "near");
  CHECK(wanted.settings.at("qos").origin == "/etc/ddlrun/config.yaml:2:6");
  CHECK(wanted.settings.at("queue").origin == "profile lab (/etc/ddlrun/sites/lab.yaml:2)");
  CHECK(wanted.parsed.job.nodes() == 2);
  CHECK(wanted.configuration_files.size() == 3);
  job.options.flags["template"] = {"plain"};
  job.files.files["/etc/ddlrun/templates/plain.sh"] =
      "#!/bin/bash\n#SBATCH -N {{nodes|int}} --ntasks-per-node={{ranks_per_node|int}} -t "
      "{{walltime|sbatch}}\n"
      "#SBATCH -J {{name|sbatch}} -o {{output|sbatch}}\ncd {{workdir|sh}}\nsrun {{program|sh}}\n";
  const JobRequest filled = job.request();  // what the template lacks is the centre's: no error
  CHECK(filled.parsed.job.script_template == "/etc/ddlrun/templates/plain.sh");
  CHECK(std::ranges::find(filled.parsed.remarks, "template: /etc/ddlrun/templates/plain.sh") !=
        filled.parsed.remarks.end());
  job.files.foreign["/etc/ddlrun/sites/lab.yaml"] = "it belongs to user 1004";
  CHECK_THROWS_AS(load_job_layers(job.system, job.options), Error);
}

TEST_CASE("submit: a directory of its own, the script, the settings, the id") {
  Submitted job;
  const JobRef ref = job.submit(job.request());
  CHECK(ref.id == "4711");
  CHECK(ref.name == "lenet");
  CHECK(ref.dir == "/work/ddlrun-jobs/lenet-20261121-031914");
  CHECK(job.files.directories.contains(ref.dir));
  CHECK(job.files.files.at(ref.dir + "/job.sh").starts_with("#!/bin/bash"));
  CHECK(job.files.files.at(ref.dir + "/job.sh").find("#SBATCH --nodes=2") != std::string::npos);
  CHECK(job.files.files.at(ref.dir + "/ddlrun.yaml").find("walltime: \"1h\"  # --walltime") !=
        std::string::npos);
  const auto sbatch = std::ranges::find_if(job.processes.ran, [](const Command& command) {
    return std::ranges::find(command, "sbatch") != command.end();
  });
  REQUIRE(sbatch != job.processes.ran.end());
  CHECK(sbatch->back() == ref.dir + "/job.sh");
}

TEST_CASE("two jobs of one name in one second get two directories") {
  Submitted job;
  CHECK(job.submit(job.request()).dir.ends_with("lenet-20261121-031914"));
  const JobRef second = job.submit(job.request());
  CHECK(second.dir.ends_with("lenet-20261121-031914-2"));
  CHECK(job.files.files.at(second.dir + "/job.sh").find("lenet-20261121-031914-2") != std::string::npos);
}

TEST_CASE("variables that override the script are left out of sbatch's environment, by name") {
  Submitted job;
  job.environment.variables["SBATCH_PARTITION"] = "debug";
  const PreparedJob prepared = prepare_job(job.system, job.request(), *job.slurm, "/work/d");
  CHECK(prepared.left_out == std::vector<std::string>{"SBATCH_PARTITION"});
  CHECK(Command(prepared.submit.begin(), prepared.submit.begin() + 3) ==
        Command{"env", "-u", "SBATCH_PARTITION"});
  CHECK(job.files.written.empty());
}

TEST_CASE("what sbatch refuses is an error and leaves no files; after a timeout they stay") {
  Submitted job;
  job.processes.answer = [](const Command&) {
    ProcessResult result;
    result.exit_status = 1;
    result.err = "sbatch: error: invalid partition specified: gpu\n";
    return result;
  };
  CHECK_THROWS_AS(job.submit(job.request()), Error);
  CHECK(job.files.files.empty());
  job.processes.answer = [](const Command&) {
    ProcessResult result;
    result.timed_out = true;
    return result;
  };
  job.clock.time += std::chrono::seconds(1);
  CHECK_THROWS_AS(job.submit(job.request()), Error);
  CHECK(job.files.files.contains("/work/ddlrun-jobs/lenet-20261121-031915/job.sh"));
}

TEST_CASE(
    "the user's own script: its placeholders are filled; a setting that it has no place for is an error") {
  Submitted job;
  job.options.flags["template"] = {"my.sh"};
  job.files.files["/work/my.sh"] =
      "#!/bin/bash\n#SBATCH -N {{nodes|int}} --ntasks-per-node={{ranks_per_node|int}} -t "
      "{{walltime|sbatch}}\n"
      "#SBATCH -J {{name|sbatch}} -o {{output|sbatch}}\ncd {{workdir|sh}}\nsrun {{program|sh}}\n";
  JobRequest wanted = job.request();
  read_template(job.system, wanted);
  CHECK(wanted.parsed.errors.empty());
  const JobRef ref = job.submit(wanted);
  const std::string script = job.files.files.at(ref.dir + "/job.sh");
  CHECK(script.find("#SBATCH -N 2 --ntasks-per-node=4 ") != std::string::npos);
  CHECK(script.find("{{") == std::string::npos);
  job.options.flags["queue"] = {"gpu"};
  const auto lost = job.errors();
  REQUIRE_FALSE(lost.empty());
  CHECK(lost.back().find("queue (gpu) would be lost: my.sh has no placeholder for it") != std::string::npos);
}

TEST_CASE("a script of another scheduler is refused: its directives would be comments") {
  Submitted job;
  job.options.flags["template"] = {"my.pbs"};
  job.files.files["/work/my.pbs"] = "#!/bin/bash\n#PBS -l select=2\n./train\n";
  const auto errors = job.errors();
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].find("my.pbs has #PBS lines only, which sbatch takes for comments") != std::string::npos);
}

TEST_CASE("a template in a file lies beside that file; one on the command line here") {
  Submitted job;
  templates::SiteProfile site;
  site.file = "/etc/ddlrun/sites/lab.yaml";
  JobSettings settings;
  const auto path_of = [&](const std::string& path, const std::string& origin, int line) {
    settings["template"].value.kind = YamlValue::Kind::scalar;
    settings["template"].value.text = path;
    settings["template"].value.line = line;
    settings["template"].origin = origin;
    find_template(job.system, site, settings);
    return settings["template"].value.text;
  };
  CHECK(path_of("my.sh", "--template", 0) == "/work/my.sh");
  CHECK(path_of("my.sh", "conf/ddlrun.yaml:3:7", 3) == "/work/conf/my.sh");
  CHECK(path_of("my.sh", "/a/b.yaml:3:7", 3) == "/a/my.sh");
  CHECK(path_of("my.sh", "profile lab", 4) == "/etc/ddlrun/sites/my.sh");
  CHECK(path_of("/x/my.sh", "conf/ddlrun.yaml:3:7", 3) == "/x/my.sh");
  CHECK(path_of("$HOME/my.sh", "conf/ddlrun.yaml:3:7", 3) == "$HOME/my.sh");
}

TEST_CASE("dependencies: one that can no longer come true, and one that no list has, are refused") {
  Submitted job;
  std::string sacct, squeue;
  job.processes.answer = [&](const Command& command) {
    ProcessResult result;
    if (command.front() == "sacct") result.out = sacct;
    if (command.front() == "squeue") result.out = squeue;
    return result;
  };
  const auto refusal = [&](const std::string& dependency) {
    job.options.flags["dependencies"] = {dependency};
    try {
      check_dependencies(job.system, job.request());
    } catch (const Error& error) {
      return error.message().what;
    }
    return std::string();
  };
  const std::string unknown = "neither Slurm nor ddlrun's history has that job";
  CHECK(refusal("afterok:99").find(unknown) != std::string::npos);
  sacct = "99|FAILED|9:0|n1|gpu|00:01:00\n";
  CHECK(refusal("afterok:99").find("that job is over and failed (9)") != std::string::npos);
  CHECK(refusal("afternotok:99") == "");
  CHECK(refusal("afterany:99") == "");
  sacct = "99|COMPLETED|0:0|n1|gpu|00:01:00\n";
  CHECK(refusal("afterok:99") == "");
  CHECK(refusal("afternotok:99").find("that job is over and completed") != std::string::npos);
  squeue = "1:00;gpu|99|RUNNING|n1|None\n";
  CHECK(refusal("afterok:99") == "");
}

TEST_CASE("dependencies: last is the newest job, also in the settings that are kept") {
  Submitted job;
  job.options.flags["dependencies"] = {"afterok:last,afterany:7"};
  const auto refusal = [&](const std::optional<JobRef>& last) {
    try {
      JobRequest wanted = job.request();
      name_newest(wanted, last);
      return std::string();
    } catch (const Error& error) {
      return error.message().what;
    }
  };
  CHECK(refusal({}) == "dependencies: no jobs were submitted with ddlrun yet, so none is the last");
  JobRef newest;
  newest.id = "4711";
  newest.scheduler = SchedulerKind::slurm;
  newest.name = "prepare";
  JobRequest wanted = job.request();
  name_newest(wanted, newest);
  REQUIRE(wanted.parsed.job.dependencies.size() == 2);
  CHECK(wanted.parsed.job.dependencies[0].job == "4711");
  CHECK(wanted.parsed.job.dependencies[1].job == "7");
  CHECK(wanted.parsed.remarks.back() == "dependencies: the last job is 4711 (prepare)");
  const std::string kept = render_job_settings(wanted.settings);
  CHECK(kept.find("afterok:4711") != std::string::npos);
  CHECK(kept.find("last") == std::string::npos);
  newest.id = "1234@h1";
  newest.scheduler = SchedulerKind::local;
  CHECK(refusal(newest) == "dependencies: the last job, 1234@h1, is not one of slurm");
}

TEST_CASE("dependencies on PBS: an array is named as one, and a job that PBS does not have is refused") {
  Submitted job;
  job.options.slurm = false;
  job.options.pbs = true;
  job.options.flags["cores_per_node"] = {"8"};
  // 24 is an array, 7 and 8 are jobs; 99 is unknown. The whole list, whatever is asked.
  job.processes.answer = [](const Command& command) {
    ProcessResult result;
    if (command.front() != "qstat") return result;
    result.exit_status = 153;
    result.out = R"({"Jobs":{"24[].s":{"job_state":"B"},"24[0].s":{"job_state":"R"},)"
                 R"("7.s":{"job_state":"F","substate":92,"Exit_status":0},"8.s":{"job_state":"R"}}})";
    return result;
  };
  const auto resolved = [&](const std::string& dependency) {
    job.options.flags["dependencies"] = {dependency};
    try {
      JobRequest wanted = job.request();
      name_arrays(job.system, wanted);
      check_dependencies(job.system, wanted);
      const Dependency& found = wanted.parsed.job.dependencies.at(0);
      return found.kind + ":" + found.job;
    } catch (const Error& error) {
      return error.message().what + "; try: " + error.message().hint;
    }
  };
  CHECK(resolved("afterok:24") == "afterok:24[]");
  CHECK(resolved("afterok:24.s") == "afterok:24[].s");
  CHECK(resolved("afterok:24[]") == "afterok:24[]");
  CHECK(resolved("afterok:7") == "afterok:7");
  CHECK(resolved("afternotok:8.s") == "afternotok:8.s");
  CHECK(resolved("afterok:99")
            .starts_with("dependencies afterok:99: PBS does not have that job; it would remove"));
  CHECK(resolved("afterok:24[0]") ==
        "dependencies afterok:24[0]: a task of an array; PBS lets a job wait for all tasks only; try: "
        "afterok:24[]");
  // No answer: nothing is known, and qsub decides.
  job.processes.answer = [](const Command&) {
    ProcessResult result;
    result.exit_status = 255;
    result.err = "qstat: cannot connect to server";
    return result;
  };
  CHECK(resolved("afterok:24") == "afterok:24");
}

TEST_CASE("environment: a name that nothing sets is refused, and PBS gets none that has no value here") {
  Submitted job;
  job.options.slurm = false;
  job.options.pbs = true;
  job.options.flags["cores_per_node"] = {"8"};
  job.options.flags["environment"] = {"SET,NOT,ABC_*"};
  job.environment.variables["SET"] = "1";
  CHECK(job.errors() == std::vector<std::string>{"--environment: environment: NOT is not set in this shell"});
  const auto prepared = [&] {
    const JobRequest wanted = job.request();
    const auto script =
        prepare_job(job.system, wanted, *make_scheduler(SchedulerKind::pbs), "/work/d").script;
    return std::pair{join(wanted.parsed.remarks, "\n"), script};
  };
  // A dry run says so; what setup or a module may set is left to the job.
  job.options.dry_run = true;
  auto [remarks, script] = prepared();
  CHECK(remarks.find("warning: environment: NOT is not set in this shell; try: NOT=value") !=
        std::string::npos);
  CHECK(remarks.find("warning: environment: no variable of this shell is one of ABC_*") != std::string::npos);
  CHECK(script.find("\n#PBS -v SET\n") != std::string::npos);
  job.options.dry_run = false;
  job.options.flags["modules"] = {"cuda"};
  std::tie(remarks, script) = prepared();
  CHECK(remarks.find("environment: NOT is not set in this shell; the ranks get it if the job sets it") !=
        std::string::npos);
  CHECK(remarks.find("ABC_") == std::string::npos);
  CHECK(script.find("\n#PBS -v SET\n") != std::string::npos);
  CHECK(script.find("ddl_passed=(SET NOT)") != std::string::npos);
  // The job sets these, so they need no word.
  job.options.flags.erase("modules");
  job.options.flags["environment"] = {"PBS_JOBID,LR"};
  job.files.files["ddlrun.yaml"] = "setup:\n  - export X=1 LR=0.1\n";
  std::tie(remarks, script) = prepared();
  CHECK(remarks.find("environment") == std::string::npos);
  CHECK(script.find("#PBS -v") == std::string::npos);
}

TEST_CASE("one list of nodes serves all questions of a submission") {
  Submitted job;
  bool answers = true;
  job.processes.answer = [&](const Command& command) {
    ProcessResult result;
    result.exit_status = answers ? 0 : 1;
    if (!answers) return result;
    if (command[0] == "pbsnodes")
      result.out = R"({"nodes":{"n1":{"resources_available":{"host":"n1","ncpus":40}}}})";
    if (command[0] == "sinfo")
      result.out = command.back() == "%P %l %s" ? "all* 2:00:00 1-9\n" : "n1 1 2 2 (null)\n";
    return result;
  };
  const auto asked = [&](const char* program) {
    job.processes.ran.clear();
    const CommandRunner ask = ask_once(job.system);
    const JobRequest wanted = load_job_request(job.system, job.options, ask);
    for (int i = 0; i < 2; ++i) find_request_fault(ask, wanted);
    return std::ranges::count_if(job.processes.ran, [&](const Command& ran) { return ran[0] == program; });
  };
  job.options.flags["oversubscribe"] = {"yes"};
  CHECK(asked("sinfo") == 2);  // partitions, and the nodes of one
  job.options.flags["exclusive"] = {"no"};
  CHECK(asked("sinfo") == 2);  // also for the cores
  answers = false;
  CHECK(asked("sinfo") == 2);
  answers = true;
  job.options.slurm = false;
  job.options.pbs = true;
  CHECK(asked("pbsnodes") == 1);
  answers = false;
  CHECK(asked("pbsnodes") == 1);
}

TEST_SUITE_END();
