// SPDX-License-Identifier: MIT
// Expected: horovod/runner/common/util/config_parser.py names the variables and converts the values
// (set_env_from_args), env_parser.cc and gloo_context.cc read them.
#include "launch/frameworks/horovod_settings.hpp"
#include "tests/unit/launch/frameworks/framework_jobs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using frameworks::Framework;
using frameworks::HorovodSettings;
using frameworks::read_horovod_yaml;
using tests::framework_plan;
using tests::framework_request;
using tests::refusal_of;
using tests::variables_of;

namespace {

std::map<std::string, std::string> horovod_variables(const HorovodSettings& settings,
                                                     const std::string& dims = "1") {
  const auto plan = framework_plan(dims, {"h"});
  auto request = framework_request(Framework::horovod, plan);
  request.horovod = settings;
  return variables_of(request, plan_framework(request), 0);
}

}  // namespace

TEST_SUITE_BEGIN("launch/frameworks/horovod");

TEST_CASE("each key becomes the variable that config_parser.py makes of it") {
  struct Row {
    std::string key, value, variable, expected;
  };
  const std::vector<Row> rows{
      {"params.fusion_threshold_mb", "128", "HOROVOD_FUSION_THRESHOLD", "134217728"},
      {"params.cycle_time_ms", "0.5", "HOROVOD_CYCLE_TIME", "0.5"},
      {"params.cache_capacity", "2048", "HOROVOD_CACHE_CAPACITY", "2048"},
      {"params.hierarchical_allreduce", "true", "HOROVOD_HIERARCHICAL_ALLREDUCE", "1"},
      {"params.hierarchical_allgather", "no", "HOROVOD_HIERARCHICAL_ALLGATHER", "0"},
      {"params.torus_allreduce", "true", "HOROVOD_TORUS_ALLREDUCE", "1"},
      {"autotune.enabled", "True", "HOROVOD_AUTOTUNE", "1"},
      {"timeline.filename", "/t.json", "HOROVOD_TIMELINE", "/t.json"},
      {"stall_check.enabled", "false", "HOROVOD_STALL_CHECK_DISABLE", "1"},
      {"stall_check.enabled", "true", "HOROVOD_STALL_CHECK_DISABLE", "0"},
      {"stall_check.warning_time_seconds", "120", "HOROVOD_STALL_CHECK_TIME_SECONDS", "120"},
      {"stall_check.shutdown_time_seconds", "240", "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "240"},
      {"library_options.mpi_threads_disable", "true", "HOROVOD_MPI_THREADS_DISABLE", "1"},
      {"library_options.num_nccl_streams", "2", "HOROVOD_NUM_NCCL_STREAMS", "2"},
      {"library_options.thread_affinity", "1", "HOROVOD_THREAD_AFFINITY", "1"},
      {"library_options.gloo_timeout_seconds", "60", "HOROVOD_GLOO_TIMEOUT_SECONDS", "60"},
      {"logging.level", "info", "HOROVOD_LOG_LEVEL", "INFO"},
      {"logging.with_timestamp", "true", "HOROVOD_LOG_HIDE_TIME", "0"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.key);
    CHECK(horovod_variables({{row.key, {row.value, "--x"}}}).at(row.variable) == row.expected);
  }
  const HorovodSettings tuned{{"autotune.enabled", {"true", "a"}},
                              {"autotune.log_file", {"a.csv", "b"}},
                              {"autotune.warmup_samples", {"5", "c"}},
                              {"autotune.steps_per_sample", {"6", "d"}},
                              {"autotune.bayes_opt_max_samples", {"7", "e"}},
                              {"autotune.gaussian_process_noise", {"0.1", "f"}}};
  const auto found = horovod_variables(tuned);
  CHECK(found.at("HOROVOD_AUTOTUNE_LOG") == "a.csv");
  CHECK(found.at("HOROVOD_AUTOTUNE_WARMUP_SAMPLES") == "5");
  CHECK(found.at("HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE") == "6");
  CHECK(found.at("HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES") == "7");
  CHECK(found.at("HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE") == "0.1");
}

TEST_CASE("settings of autotune and timeline do nothing alone, as in config_parser.py") {
  for (const char* key : {"autotune.log_file", "timeline.mark_cycles"}) {
    const auto found = horovod_variables({{key, {"true", "--x"}}});
    CHECK(std::ranges::none_of(found, [](const auto& one) {
      return one.first.starts_with("HOROVOD_AUTOTUNE") || one.first.starts_with("HOROVOD_TIMELINE");
    }));
  }
}

TEST_CASE("who is who, by the names that gloo_context.cc reads") {
  const auto plan = framework_plan("2x2x1", {"h1", "h2"}, topology::RankOrder::packed);
  const auto request = framework_request(Framework::horovod, plan);
  const std::map<std::string, std::string> expected{{"HOROVOD_RANK", "2"},        {"HOROVOD_SIZE", "4"},
                                                    {"HOROVOD_LOCAL_RANK", "0"},  {"HOROVOD_LOCAL_SIZE", "2"},
                                                    {"HOROVOD_CROSS_RANK", "1"},  {"HOROVOD_CROSS_SIZE", "2"},
                                                    {"HOROVOD_CONTROLLER", "mpi"}};
  CHECK(variables_of(request, plan_framework(request), 2) == expected);
}

TEST_CASE("values that Horovod would take for something else are refused at their place") {
  struct Row {
    std::string key, value, what;
  };
  const std::vector<Row> rows{{"params.fusion_threshold_mb", "-1", "'-1' is not a whole number"},
                              {"params.fusion_threshold_mb", "1.5", "'1.5' is not a whole number"},
                              {"params.cycle_time_ms", "-0.1", "'-0.1' is not a number from 0 on"},
                              {"params.hierarchical_allreduce", "maybe", "'maybe' is not true or false"},
                              {"logging.level", "LOUD", "'LOUD' is not one of TRACE"},
                              {"library_options.thread_affinity", "a", "'a' is not a list of cores"}};
  for (const Row& row : rows) {
    CAPTURE(row.value);
    const std::string found = refusal_of([&] { horovod_variables({{row.key, {row.value, "h.yaml:2:5"}}}); });
    CHECK(found.starts_with(row.what));
    CHECK(found.find("| h.yaml:2:5 |") != std::string::npos);
  }
  // common.cc, parse_and_set_affinity(): "Expected 2 core ids but got 1".
  CHECK(refusal_of([&] {
          horovod_variables({{"library_options.thread_affinity", {"1", "--thread-affinity"}}}, "2");
        }).starts_with("1 core for the threads of 2 ranks of a host"));
}

TEST_CASE("horovodrun's YAML; what was typed wins") {
  HorovodSettings settings{{"params.cycle_time_ms", {"9", "--cycle-time-ms"}}};
  read_horovod_yaml(
      "controller: mpi\nparams:\n  fusion_threshold_mb: 32\n  cycle_time_ms: 5\n"
      "stall_check:\n  enabled: no\nautotune:\nlogging:\n  level: DEBUG\n",
      "h.yaml", settings);
  CHECK(settings.at("params.cycle_time_ms").text == "9");
  CHECK(settings.at("params.fusion_threshold_mb").text == "32");
  CHECK(settings.at("params.fusion_threshold_mb").place == "h.yaml:3:24");
  CHECK(settings.at("stall_check.enabled").text == "no");
  CHECK(settings.at("logging.level").text == "DEBUG");
  CHECK(settings.size() == 4);
}

TEST_CASE("a YAML that horovodrun would silently take half of is refused") {
  struct Row {
    std::string text, what, place;
  };
  const std::vector<Row> rows{
      {"params:\n  cycle_tme_ms: 5\n", "'cycle_tme_ms' is no key of params", "h.yaml:2:"},
      {"parms:\n  cycle_time_ms: 5\n", "'parms' is no section", "h.yaml:1:1"},
      {"params: 5\n", "params is a section", "h.yaml:1:"},
      {"params:\n  cycle_time_ms: [5]\n", "cycle_time_ms is one value", "h.yaml:2:"},
      {"- a\n", "Horovod's settings are sections", "h.yaml:1:"},
      {"controller: gloo\n", "Horovod's Gloo controller needs a rendezvous server", "h.yaml:1:"},
      {"controller: smoke\n", "'smoke' is no controller", "h.yaml:1:"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    HorovodSettings settings;
    const std::string found = refusal_of([&] { read_horovod_yaml(row.text, "h.yaml", settings); });
    CHECK(found.starts_with(row.what));
    CHECK(found.find("| " + row.place) != std::string::npos);
  }
}

TEST_CASE("the hint for a file that is not YAML concerns Horovod's settings") {
  const std::string too_long(2u << 20, '#');
  for (const std::string& text :
       {std::string("params: {cycle_time_ms: 5\n"), std::string("params: &p\n"), too_long}) {
    CAPTURE(text.substr(0, 60));
    HorovodSettings settings;
    const std::string found = refusal_of([&] { read_horovod_yaml(text, "h.yaml", settings); });
    CHECK(found.find("| h.yaml") != std::string::npos);
    CHECK(found.find("params: {cycle_time_ms: 5}; `ddlrun launch --help`") != std::string::npos);
    CHECK(found.find("diagnose") == std::string::npos);
  }
}

TEST_CASE(
    "the user's HOROVOD_ variables reach the ranks; Gloo is refused; the timeline's price is reported") {
  const auto plan = framework_plan("2", {"h"});
  auto request = framework_request(Framework::horovod, plan);
  request.environment = {{"HOROVOD_TIMELINE", "/t.json"}, {"HOROVOD_RANK", "7"}, {"HOME", "/"}};
  const auto made = plan_framework(request);
  CHECK(variables_of(request, made, 1).at("HOROVOD_TIMELINE") == "/t.json");
  CHECK(variables_of(request, made, 1).at("HOROVOD_RANK") == "1");
  CHECK(made.remarks.size() == 1);
  request.environment["HOROVOD_CONTROLLER"] = "gloo";
  CHECK(refusal_of([&] { plan_framework(request); }).find("rendezvous server") != std::string::npos);
}

TEST_SUITE_END();
