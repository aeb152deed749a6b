// SPDX-License-Identifier: MIT
// Settings that `ddlrun launch` and `ddlrun doctor` read inside the job. Their values are checked where those
// commands are: the caller of load_job_request() passes the check.
#include "base/text/text.hpp"
#include "schedulers/job/job_parser.hpp"

#include <fmt/format.h>

#include <array>

namespace ddlrun::schedulers {

namespace {

struct PassedKey {
  std::string_view key, option, example;
};
constexpr auto launch_keys = std::to_array<PassedKey>({{"launcher", "--launcher", "srun"},
                                                       {"interface", "--interface", "10.0.0.0/24"},
                                                       {"mem_bind", "--mem-bind", "preferred"},
                                                       {"visible_gpus", "--visible-gpus", "one"},
                                                       {"rank_output", "--rank-output", "prefix"},
                                                       {"stall_timeout", "--stall-timeout", "60"},
                                                       {"on_stall", "--on-stall", "end"},
                                                       {"max_restarts", "--max-restarts", "3"}});
constexpr auto doctor_keys =
    std::to_array<PassedKey>({{"doctor_skip", "--skip", "LIM-01"}, {"doctor_warn", "--warn", "LIM-01"}});

void add_option(std::vector<PassedOption>& options, std::string_view key, Command words) {
  options.push_back({std::string(key), std::move(words)});
}

void read_verify(SettingReader& reader, JobSpec& job) {
  constexpr auto words = std::to_array<std::string_view>({"yes", "no", "strict"});
  constexpr auto options = std::to_array<std::string_view>({"--verify", "--no-verify", "--strict"});
  if (const auto at = reader.choice("verify", words))
    add_option(job.launch_options, "verify", {std::string(options[*at])});
}

void read_oversubscribe(SettingReader& reader, JobSpec& job) {
  constexpr auto words = std::to_array<std::string_view>({"yes", "no"});
  const auto at = reader.choice("oversubscribe", words);
  if (at && *at == 0) add_option(job.launch_options, "oversubscribe", {"--oversubscribe"});
}

}  // namespace

void read_passed_options(SettingReader& reader, JobSpec& job) {
  read_verify(reader, job);
  read_oversubscribe(reader, job);
  for (const auto& [key, option, example] : launch_keys) {
    if (const auto value = reader.text(key, example))
      add_option(job.launch_options, key, {std::string(option), *value});
  }
  for (const auto& [key, option, example] : doctor_keys) {
    std::vector<std::string> ids;
    for (const PlacedText& written : reader.texts(key, example)) ids.push_back(written.text);
    if (!ids.empty()) add_option(job.doctor_options, key, {std::string(option), join(ids, ",")});
  }
}

void check_passed_options(SettingReader& reader, const JobSpec& job) {
  if (job.runner != Runner::ddlrun) {
    for (const PassedOption& option : job.launch_options)
      reader.leave_out(
          option.key,
          fmt::format("{}: only `ddlrun launch` does it, and runner {} starts the ranks without it",
                      option.key, job.runner == Runner::srun ? "srun" : "none"),
          "runner: ddlrun");
  }
  if (job.doctor != DoctorLevel::off) return;
  for (const PassedOption& option : job.doctor_options)
    reader.leave_out(option.key, fmt::format("{} and doctor: off conflict", option.key), "doctor: stop");
}

}  // namespace ddlrun::schedulers
