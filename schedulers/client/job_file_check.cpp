// SPDX-License-Identifier: MIT
#include "schedulers/client/job_file_check.hpp"

#include "base/text/text.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/job/site_rules.hpp"

#include <algorithm>
#include <functional>

namespace ddlrun::schedulers {

namespace {

std::string value_of(const Setting& setting) {
  if (setting.value.kind != YamlValue::Kind::sequence) return setting.value.text;
  std::vector<std::string> words;
  for (const YamlValue& item : setting.value.items) words.push_back(item.text);
  return join(words, " ");
}

// The setting that the error is about; a rule of the site's names the site.
std::string key_at_fault(const JobSettings& settings, const Message& error) {
  if (settings.contains(error.where) && error.where != "dims" && error.where != "program") return error.where;
  return error.where.starts_with("profile ") && settings.contains("site") ? "site" : "";
}

}  // namespace

Rejections remove_rejected(System& system, JobSettings& settings) {
  Rejections rejections;
  for (;;) {
    std::vector<Message> errors = check_settings(system, settings);
    const auto wanted = std::ranges::stable_partition(errors, std::not_fn(asks_for_key));
    rejections.wanted.assign(wanted.begin(), wanted.end());
    errors.erase(wanted.begin(), wanted.end());
    if (errors.empty()) return rejections;
    const auto fault = std::ranges::find_if(
        errors, [&](const Message& error) { return !key_at_fault(settings, error).empty(); });
    if (fault == errors.end())
      throw Error(ErrorKind::request, {errors.front().what, errors.front().where, errors.front().hint});
    const std::string key = key_at_fault(settings, *fault);
    RemovedSetting one{key, value_of(settings.at(key)), *fault};
    for (auto other = fault + 1; other != errors.end(); ++other)
      if (key_at_fault(settings, *other) == key) one.error.what += "; " + other->what;
    settings.erase(key);
    rejections.removed.push_back(std::move(one));
  }
}

}  // namespace ddlrun::schedulers
