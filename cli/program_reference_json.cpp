// SPDX-License-Identifier: MIT
#include "base/text/command_reference.hpp"
#include "cli/describe_command.hpp"
#include "cli/program_reference.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "doctor/model/check.hpp"
#include "doctor/report/baseline.hpp"
#include "schedulers/job/job_settings.hpp"
#include "schedulers/scripts/lint_examples.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::cli {

namespace {

using Json = nlohmann::ordered_json;

Json checks_json() {
  std::vector<doctor::Check> checks = doctor::all_checks();
  checks.push_back(doctor::baseline_check());
  Json array = Json::array();
  for (const doctor::Check& check : checks) {
    array.push_back({{"id", check.id},
                     {"title", check.title},
                     {"level", doctor::level_name(check.level)},
                     {"why", check.why},
                     {"how", check.how},
                     {"remedy", check.remedy}});
  }
  return array;
}

Json signatures_json() {
  Json array = Json::array();
  for (const diagnose::Signature& signature : diagnose::builtin_signatures()->signatures) {
    array.push_back({{"id", signature.id},
                     {"class", std::string(1, diagnose::letter_of(signature.kind))},
                     {"title", signature.title},
                     {"cause", signature.cause}});
  }
  return array;
}

Json keys_json() {
  Json array = Json::array();
  for (const schedulers::JobKey& key : schedulers::job_keys()) {
    array.push_back(
        {{"name", key.name}, {"group", key.group}, {"value", key.value}, {"summary", key.summary}});
  }
  return array;
}

}  // namespace

std::string render_program_reference_json() {
  Json document = Json::parse(render_commands_json(describe_commands()));
  document["schema"] = "ddlrun.reference/1";
  document["checks"] = checks_json();
  document["signatures"] = signatures_json();
  document["rules"] = job_scripts::list_rules();
  document["keys"] = keys_json();
  return document.dump(1) + "\n";
}

}  // namespace ddlrun::cli
