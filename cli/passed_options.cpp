// SPDX-License-Identifier: MIT
#include "cli/passed_options.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/checks/examination.hpp"
#include "launch/plan/launch_spec.hpp"

#include <utility>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

using launch::LaunchFlags;

// Error{usage} of `ddlrun launch`. The words of --verify are made by us.
void check_launch_option(const PassedOption& option) {
  constexpr std::pair<std::string_view, std::string LaunchFlags::*> members[] = {
      {"launcher", &LaunchFlags::launcher},       {"interface", &LaunchFlags::interface},
      {"mem_bind", &LaunchFlags::mem_bind},       {"visible_gpus", &LaunchFlags::visible_gpus},
      {"rank_output", &LaunchFlags::rank_output}, {"stall_timeout", &LaunchFlags::stall_timeout},
      {"on_stall", &LaunchFlags::on_stall},       {"max_restarts", &LaunchFlags::max_restarts}};
  LaunchFlags flags;
  for (const auto& [key, member] : members)
    if (key == option.key) flags.*member = option.words[1];
  launch::check_run_flags(flags);
}

// Error{usage} of `ddlrun doctor`.
void check_doctor_option(const PassedOption& option) {
  doctor::CheckChoice choice;
  for (const std::string_view id : split(option.words[1], ',')) choice.skip.emplace_back(trim(id));
  doctor::choose_checks(choice, doctor::all_checks());
}

// The error of the other command, in the words of the setting: "--on-stall end" is "on_stall: end" in a file.
void add_error_of(SettingReader& reader, const PassedOption& option, const Message& error) {
  const std::string& flag = option.words[0];
  const bool is_of_flag = error.hint.starts_with(flag + " ");
  std::string what = error.what;
  if (what.starts_with(flag + " ")) what = option.key + what.substr(flag.size());
  if (!what.starts_with(option.key)) what = option.key + ": " + what;
  reader.add_error_at(what, reader.origin_of(option.key),
                      is_of_flag ? reader.hint(option.key, error.hint.substr(flag.size() + 1)) : error.hint);
}

}  // namespace

void check_passed_options(SettingReader& reader, const JobSpec& job) {
  const auto check_all = [&](const std::vector<PassedOption>& options, auto check) {
    for (const PassedOption& option : options) {
      try {
        check(option);
      } catch (const Error& error) {
        add_error_of(reader, option, error.message());
      }
    }
  };
  check_all(job.launch_options, check_launch_option);
  check_all(job.doctor_options, check_doctor_option);
}

}  // namespace ddlrun::cli
