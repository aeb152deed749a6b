// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "doctor/report/baseline.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ddlrun::doctor {

namespace {

using nlohmann::json;

[[noreturn]] void refuse_baseline(const std::string& what, const std::string& file) {
  throw Error(ErrorKind::request, {what, file, "keep a new one: ddlrun doctor --baseline save"});
}

}  // namespace

std::string render_baseline_json(const Baseline& baseline) {
  json hosts = json::object();
  for (const auto& [host, facts] : baseline.hosts) {
    json& entries = hosts[host] = json::object();
    for (const auto& [name, fact] : facts.all()) entries[name] = fact.text;
  }
  const json document{
      {"schema", "ddlrun.baseline/1"}, {"saved_at", baseline.saved_at}, {"hosts", std::move(hosts)}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Baseline parse_baseline_json(std::string_view text, const std::string& file) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || document.value("schema", json()) != "ddlrun.baseline/1") {
    refuse_baseline("this is no baseline of ddlrun doctor", file);
  }
  try {
    Baseline baseline;
    baseline.saved_at = document.at("saved_at").get<std::string>();
    for (const auto& [host, facts] : document.at("hosts").items()) {
      Facts& kept = baseline.hosts[host];
      for (const auto& [name, value] : facts.items()) kept.set(name, value.get<std::string>());
    }
    return baseline;
  } catch (const json::exception& error) {
    refuse_baseline(fmt::format("this baseline cannot be read: {}", error.what()), file);
  }
}

}  // namespace ddlrun::doctor
