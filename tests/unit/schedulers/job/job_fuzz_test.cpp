// SPDX-License-Identifier: MIT
// Whatever is written, reading it ends in a job or in messages that can be acted on; and what is taken can
// stand in a directive.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/scheduler.hpp"
#include "schedulers/job/setting_reader.hpp"
#include "schedulers/job/site_rules.hpp"
#include "tests/unit/schedulers/job_texts.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <random>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

int rounds(int usual) {
  const char* wanted = std::getenv("DDLRUN_FUZZ_ROUNDS");
  return wanted == nullptr ? usual : std::atoi(wanted);
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/job/job_fuzz");

TEST_CASE("a damaged ddlrun.yaml never escapes as anything but messages") {
  const std::string whole =
      tests::read_test_file(DDLRUN_TEST_DATA "/../golden/jobs/valid/everything/ddlrun.yaml");
  std::mt19937 random(4);
  const std::string pieces = "\n :-[]{}\"'#,%@$\\\t0129aZ\x01\xff";
  int refused = 0, reported = 0, taken = 0;
  for (int round = 0; round < rounds(3000); ++round) {
    std::string text = whole;
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = pieces[random() % pieces.size()];
          break;
        case 1:
          text.insert(at, 1, pieces[random() % pieces.size()]);
          break;
        case 2:
          text.erase(at, 1 + random() % 30);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 40));
      }
    }
    std::vector<Message> errors;
    ParsedJob parsed;
    try {
      parsed = read_job(read_job_settings(text, "ddlrun.yaml", errors));
    } catch (const Error& error) {
      ++refused;  // no YAML any more
      CHECK_FALSE(error.message().where.empty());
      continue;
    }
    errors.insert(errors.end(), parsed.errors.begin(), parsed.errors.end());
    ++(errors.empty() ? taken : reported);
    for (const Message& each : errors) {
      CHECK_FALSE(each.what.empty());
      CHECK_FALSE(each.hint.empty());
      CHECK(printable(each.what, 2000) == each.what);
      CHECK(printable(each.hint, 2000) == each.hint);
    }
  }
  CHECK(refused + reported + taken == rounds(3000));
  CHECK(reported > 100);  // else the damage is too coarse to say anything
  CHECK(taken > 10);
}

TEST_CASE("what read_job takes, the scheduler's script can say") {
  // Parts of jobs, one line each; a job is a random choice of them.
  const std::vector<std::string> parts{"name: a.b+c-d\n",
                                       "queue: normal\n",
                                       "account: a_1\n",
                                       "project: p\n",
                                       "application: caffe\n",
                                       "qos: high\n",
                                       "reservation: R12\n",
                                       "gpus: 2\n",
                                       "gpus: 4\ngpu_type: v100\n",
                                       "memory: 1500MiB\n",
                                       "exclusive: no\n",
                                       "constraint: knl\n",
                                       "constraint: cpu=knl:x=y\n",
                                       "constraint: \"[a|b]&c*2\"\n",
                                       "walltime: 36h\n",
                                       "walltime: 2m\nsignal: TERM@60\n",
                                       "requeue: 2\n",
                                       "array: 0-7\n",
                                       "array: 4\n",
                                       "array: 0-8:2%3\n",
                                       "dependencies: [afterok:12.srv, afterany:3]\n",
                                       "mail: a@b.org\n",
                                       "mail: a@b.org\nmail_events: begin\n",
                                       "output: logs/a.log\n",
                                       "output: /x/a%a.log\n",
                                       "directives: [\"--comment=x y\"]\n",
                                       "threads: 2\n",
                                       "modules: [gcc/12, a/b]\n",
                                       "conda: tf\n",
                                       "venv: venv\n",
                                       "environment: {A: \"it's\", B: \"$x\"}\n",
                                       "container: {image: a.sif, binds: /x}\n",
                                       "data: {from: d, to: /tmp/d}\n",
                                       "runner: none\n",
                                       "runner: srun\n",
                                       "doctor: off\n",
                                       "hosts: h[1-2]\n",
                                       "order: packed\n",
                                       "reserved_cores: 1\n"};
  std::mt19937 random(6);
  int taken = 0;
  for (int round = 0; round < rounds(2000); ++round) {
    const std::string kind = std::array{"slurm", "pbs", "torque", "local"}[random() % 4];
    std::string text = "dims: 2x2\ncores_per_node: 8\nprogram: ./t\nworkdir: /w\nscheduler: " + kind + "\n";
    for (unsigned n = random() % 6; n > 0; --n) text += parts[random() % parts.size()];
    CAPTURE(text);
    std::vector<Message> errors;
    try {
      const ParsedJob parsed = read_job(read_job_settings(text, "ddlrun.yaml", errors));
      if (!parsed.errors.empty() || !check_against_site(parsed.job, {}).empty()) continue;
      ++taken;
      CHECK_NOTHROW(make_scheduler(parsed.job.scheduler)->render(parsed.job, {"/w/jobs/1"}, {}));
    } catch (const Error&) {  // a key twice
    }
  }
  CHECK(taken > rounds(2000) / 5);
}

TEST_CASE("what read_job takes for a name, a directive takes") {
  std::mt19937 random(5);
  const auto agree = [](NameKind mine, ValueKind theirs, const std::string& text) {
    if (!is_name(mine, text)) return true;
    try {
      return directive_value(theirs, text, "x") == text;
    } catch (const Error&) {
      return false;
    }
  };
  for (int round = 0; round < rounds(20000); ++round) {
    std::string text;
    for (unsigned n = 1 + random() % 3; n > 0; --n) text += static_cast<char>(random() % 127 + 1);
    CAPTURE(printable(text));
    CHECK(agree(NameKind::job, ValueKind::job_name, text));
    CHECK(agree(NameKind::plain, ValueKind::name, text));
    CHECK(agree(NameKind::resource, ValueKind::resource, text));
  }
}

TEST_CASE("what was typed is answered as it is typed") {
  struct Row {
    const char *key, *text, *origin, *hint;
  };
  const Row rows[] = {
      {"modules", "gcc mpi", "--modules", "--modules gcc/12.2,openmpi/4.1.4   # several are a list"},
      {"dims", "4x", "the command line", "4x2x1   # 4 ranks on each of 2 nodes"},
      {"hosts", "a_b!", "the command line", "h[1-4]   # or h1,h2"},
      {"signal", "SIGUSR1@60", "--signal", "--signal USR1@60"},
      {"signal", "USR1@60", "--signal", "--signal USR1@60   # and --walltime 4h"},
      {"dependencies", "12", "--dependencies", "--dependencies afterok:12"},
      {"environment", "1A", "--environment", "--environment DATA_ROOT,NCCL_DEBUG=INFO"},
      {"environment", "A=x,Y", "--environment",
       "--environment 'A=...' --environment B=...   # a comma in a value: environment: {A: 'x,y'} in "
       "ddlrun.yaml"},
      {"runner", "srun", "--runner", "--cores-per-node 40   # or --threads 10"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    JobSettings settings;
    settings["dims"] = flag_setting("dims", "1x1", "--dims");
    settings["program"] = list_setting({"./train"}, "behind '--'");
    settings["workdir"] = flag_setting("workdir", "/w", "here");
    settings["scheduler"] = flag_setting("scheduler", "slurm", "--slurm");
    settings[row.key] = flag_setting(row.key, row.text, row.origin);
    const auto parsed = read_job(settings);
    REQUIRE(parsed.errors.size() == 1);
    CHECK(parsed.errors[0].hint == row.hint);
  }
}

TEST_CASE("a typed value of one variable may have commas") {
  for (const char* text :
       {"KMP_AFFINITY=granularity=fine,compact,1,0", "A=1,2", "KMP_AFFINITY=verbose,granularity=fine"}) {
    CAPTURE(text);
    JobSettings settings;
    settings["dims"] = flag_setting("dims", "1x1", "--dims");
    settings["program"] = list_setting({"./train"}, "behind '--'");
    settings["environment"] = flag_setting("environment", text, "--environment");
    const auto parsed = read_job(settings);
    CHECK(parsed.job.environment == std::vector<std::string>{text});
  }
}

TEST_CASE("a flag's mistake is answered with the flag") {
  JobSettings settings;
  settings["cores_per_node"] = flag_setting("cores_per_node", "022", "--cores-per-node");
  settings["dims"] = flag_setting("dims", "1x1", "--dims");
  settings["program"] = list_setting({"./train"}, "--");
  const auto parsed = read_job(settings);
  REQUIRE(parsed.errors.size() == 1);
  CHECK(parsed.errors[0] == Message{"cores_per_node '022': a number has no leading 0", "--cores-per-node",
                                    "--cores-per-node 22"});
}

TEST_SUITE_END();
