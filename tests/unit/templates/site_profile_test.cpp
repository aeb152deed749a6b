// SPDX-License-Identifier: MIT
#include "templates/site_profile.hpp"

#include "schedulers/job/site_rules.hpp"
#include "templates/site_profile_yaml.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::templates;

namespace {

std::string no_file(const std::string& path) { throw std::runtime_error("requested " + path); }

std::string refusal_of(const std::string& text) {
  try {
    parse_profile(text, "mine", "mine.yaml");
  } catch (const Error& error) {
    return error.message().where + " " + error.message().what + " | " + error.message().hint;
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("templates/site_profile");

TEST_CASE("the profiles that came with ddlrun are sound") {
  const auto names = known_profiles();
  for (const char* name :
       {"generic-pbs", "generic-slurm", "generic-torque", "gpu-servers", "kisti-neuron", "kisti-nurion"}) {
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  }
  for (const std::string& name : names) {
    CAPTURE(name);
    const SiteProfile site = load_profile(name, no_file);
    CHECK(site.name == name);
    CHECK(site.title != name);
    CHECK_FALSE(site.source.empty());
    std::vector<Message> errors;
    const auto settings = schedulers::profile_settings(site, errors);
    CHECK(errors.empty());
    CHECK(settings.contains("scheduler"));
    // Each default by itself is a value that its key takes: with a shape and a program nothing is wrong.
    auto all = settings;
    all["dims"] = schedulers::flag_setting("dims", "1x2", "--dims");
    all["program"] = schedulers::list_setting({"true"}, "--");
    all["cores_per_node"] = schedulers::flag_setting("cores_per_node", "68", "--cores-per-node");
    CHECK(schedulers::read_job(all).errors.empty());
  }
}

TEST_CASE("Nurion, as its public page has it") {
  const SiteProfile site = load_profile("kisti-nurion", no_file);
  CHECK(site.scheduler == "pbs");
  CHECK(site.application_directive == "-A {}");
  CHECK(site.submit_below == std::vector<std::string>{"/scratch"});
  REQUIRE(site.queue_walltimes.size() == 1);
  CHECK(site.queue_walltimes[0].first == "normal");
  CHECK(site.queue_walltimes[0].second == 172800);
  std::vector<Message> errors;
  const auto settings = schedulers::profile_settings(site, errors);
  CHECK(settings.at("cores_per_node").value.text == "68");
  CHECK(settings.at("cores_per_node").origin == "profile kisti-nurion (kisti-nurion.yaml:7)");
}

TEST_CASE("an unknown name is answered with the nearest one") {
  try {
    load_profile("kisti-nurio", no_file);
    FAIL("taken");
  } catch (const Error& error) {
    CHECK(error.message().hint == "site: kisti-nurion");
  }
}

TEST_CASE("a centre's own file") {
  const auto site = load_profile("conf/my-site.yaml", [](const std::string& path) {
    CHECK(path == "conf/my-site.yaml");
    return std::string(
        "scheduler: slurm\nwalltime_most: 72h\nqueue_walltimes: {short: 01:00:00, mid: 30m, long: 7d}\n"
        "preamble: |\n  a\n\n  b\ndirectives: [\"--licenses=fs1\"]\n");
  });
  CHECK(site.name == "my-site");
  CHECK(site.file == "conf/my-site.yaml");
  CHECK(site.walltime_most_seconds == 259200);
  REQUIRE(site.queue_walltimes.size() == 3);
  CHECK(site.queue_walltimes[0].second == 3600);
  CHECK(site.queue_walltimes[1].second == 1800);
  CHECK(site.queue_walltimes[2].second == 604800);
  CHECK(site.preamble == std::vector<std::string>{"a", "b"});
  CHECK(site.directives == std::vector<std::string>{"--licenses=fs1"});
}

TEST_CASE("a profile's errors have a place and a way out") {
  struct Row {
    const char* text;
    const char* reported;
  };
  const Row rows[] = {
      {"title: x\n",
       "mine.yaml:1:1 a profile says whose site it is: 'scheduler:' is missing | scheduler: slurm   # or "
       "pbs, torque, local"},
      {"scheduler: slrum\n",
       "mine.yaml:1:12 scheduler 'slrum' is not one of slurm, pbs, torque, local | scheduler: slurm"},
      {"scheduler: pbs\nsubmit_bellow: [/x]\n",
       "mine.yaml:2:16 unknown key 'submit_bellow' in a profile | did you mean submit_below?"},
      {"scheduler: pbs\nsubmit_below: [scratch]\n",
       "mine.yaml:2:16 'scratch' is not an absolute path | submit_below: [/scratch]"},
      {"scheduler: pbs\nwalltime_most: 48\n", "mine.yaml:2:16 '48' is not a time | 48h   # or 48:00:00"},
      {"scheduler: pbs\napplication_directive: -A\n",
       "mine.yaml:2:24 '-A' is no directive with one {} | application_directive: \"--comment={}\""},
      {"scheduler: pbs\ndirectives: [\"#PBS -W x\"]\n",
       "mine.yaml:2:14 '#PBS -W x' is no directive (without #SBATCH or #PBS) | - \"-W sandbox=PRIVATE\""},
      {"scheduler: pbs\nrequired: {a: b}\n",
       "mine.yaml:2:11 one value is expected here | required: [walltime]"},
      {"- a\n", "mine.yaml:1:1 a profile is a mapping (KEY: VALUE) | scheduler: slurm"},
      {"", "mine.yaml a profile is a mapping (KEY: VALUE) | scheduler: slurm"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(refusal_of(row.text) == row.reported);
  }
}

TEST_CASE("a default or a required key that no job has") {
  const SiteProfile site = parse_profile(
      "scheduler: slurm\ndefaults:\n  quee: x\n  site: y\nrequired: [wall_time]\n", "mine", "mine.yaml");
  std::vector<Message> errors;
  schedulers::profile_settings(site, errors);
  REQUIRE(errors.size() == 3);
  CHECK(errors[0] == Message{"unknown key 'quee'", "profile mine (mine.yaml:3)", "did you mean queue?"});
  CHECK(errors[1] ==
        Message{"'site' is no default of a profile", "profile mine (mine.yaml:4)", "leave it out"});
  CHECK(errors[2] ==
        Message{"unknown key 'wall_time'", "profile mine (mine.yaml)", "did you mean walltime?"});
}

TEST_CASE("a site's rules") {
  SiteProfile site = parse_profile(
      "scheduler: slurm\nrequired: [account]\nsubmit_below: [/scratch, /work/]\nwalltime_most: "
      "48h\nqueue_walltimes: "
      "{short: 1h}\n",
      "mine", "mine.yaml");
  const auto reported = [&](const schedulers::JobSpec& job, const char* directory) {
    const bool misplaced = schedulers::check_submit_directory(site, directory).has_value();
    return schedulers::check_against_site(job, site).size() + (misplaced ? 1 : 0);
  };
  schedulers::JobSpec job;
  job.scheduler = schedulers::SchedulerKind::slurm;
  job.account = "a";
  job.walltime_seconds = 7200;
  CHECK(reported(job, "/scratch") == 0);
  CHECK(reported(job, "/scratch/me") == 0);
  CHECK(reported(job, "/work/me") == 0);
  CHECK(reported(job, "/scratch2/me") == 1);
  CHECK(reported(job, "/scratch/../home/me") == 1);
  CHECK(reported(job, "/home/scratch") == 1);
  job.queue = "short";
  CHECK(reported(job, "/scratch") == 1);
  job.walltime_seconds = 3600;
  CHECK(reported(job, "/scratch") == 0);
  job.queue = "other";
  job.walltime_seconds = 172801;
  CHECK(reported(job, "/scratch") == 1);
  job.account = "";
  CHECK(reported(job, "/scratch") == 2);
}

TEST_SUITE_END();
