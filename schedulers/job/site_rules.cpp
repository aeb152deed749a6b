// SPDX-License-Identifier: MIT
#include "schedulers/job/site_rules.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/job_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace ddlrun::schedulers {

namespace {

std::string origin_in(const templates::SiteProfile& site, int line) {
  if (line == 0) return fmt::format("profile {} ({})", site.name, site.file);
  return fmt::format("profile {} ({}:{})", site.name, site.file, line);
}

std::string origin_of_key(const JobSettings& settings, std::string_view key) {
  const auto found = settings.find(std::string(key));
  return found == settings.end() ? std::string() : found->second.origin;
}

bool is_flag(const JobSettings& settings, std::string_view key) {
  return origin_of_key(settings, key).starts_with("--");
}

// Whether the job sets the key; keys that it cannot be without are always there.
bool has(const JobSpec& job, const JobSettings& settings, std::string_view key) {
  if (settings.contains(std::string(key))) return true;
  if (key == "walltime") return job.walltime_seconds > 0;
  if (key == "memory") return job.memory_bytes > 0;
  if (key == "gpus") return job.gpus_per_node > 0;
  const std::pair<std::string_view, const std::string*> texts[] = {
      {"application", &job.application},
      {"account", &job.account},
      {"queue", &job.queue},
      {"project", &job.project},
      {"qos", &job.qos},
      {"constraint", &job.constraint},
      {"gpu_type", &job.gpu_type},
      {"reservation", &job.reservation},
  };
  for (const auto& [name, text] : texts) {
    if (name == key) return !text->empty();
  }
  return false;
}

std::string_view example_of(std::string_view key) {
  if (key == "application") return "caffe";
  if (key == "walltime") return "4h";
  if (key == "account") return "my_account";
  if (key == "memory") return "64GiB";
  return "...";
}

// "/scratch/me/../x" is "/scratch/x"; a link is not followed, nothing is touched.
std::string plain_path(std::string_view path) {
  std::string plain = std::filesystem::path(path).lexically_normal().string();
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

bool is_below(const std::string& path, const std::string& dir) {
  return path == dir || dir == "/" || path.starts_with(dir + "/");
}

constexpr std::string_view for_every_job = " for every job";

void check_required(const JobSpec& job, const templates::SiteProfile& site, const JobSettings& settings,
                    std::vector<Message>& errors) {
  for (const std::string& key : site.required) {
    if (has(job, settings, key)) continue;
    std::string flag = key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (key == "queue") {  // the scheduler has the list
      const std::string_view names = job.scheduler == SchedulerKind::slurm ? "sinfo -s" : "qstat -Q";
      errors.push_back({fmt::format("{} requires {}{}", site.name, key, for_every_job), origin_in(site, 0),
                        fmt::format("{}   # names the queues; then --queue with one of them", names)});
      continue;
    }
    errors.push_back({fmt::format("{} requires {}{}", site.name, key, for_every_job), origin_in(site, 0),
                      fmt::format("{}: {}   # or --{} {}", key, example_of(key), flag, example_of(key))});
  }
}

void check_walltime(const JobSpec& job, const templates::SiteProfile& site, const JobSettings& settings,
                    std::vector<Message>& errors) {
  std::uint64_t most = site.walltime_most_seconds;
  std::string whose = site.name;
  for (const auto& [queue, limit] : site.queue_walltimes) {
    if (queue != job.queue) continue;
    most = limit;
    whose = fmt::format("queue {} of {}", queue, site.name);
  }
  if (most == 0 || job.walltime_seconds <= most) return;
  errors.push_back({fmt::format("walltime {}, {} gives at most {}", render_walltime(job.walltime_seconds),
                                whose, render_walltime(most)),
                    origin_of_key(settings, "walltime"),
                    is_flag(settings, "walltime") ? "--walltime " + render_walltime(most)
                                                  : "walltime: " + render_walltime(most)});
}

void check_scheduler_of(const JobSpec& job, const templates::SiteProfile& site, const JobSettings& settings,
                        std::vector<Message>& errors) {
  const std::string_view own = scheduler_name(job.scheduler);
  if (site.name.empty() || site.scheduler.empty() || own == site.scheduler) return;
  const bool flag = is_flag(settings, "scheduler");
  const auto plain = templates::generic_profile(own);
  const std::string other = plain ? (flag ? "--site " : "site: ") + *plain : "the job without site";
  errors.push_back({fmt::format("the scheduler is {}, {} has {}", own, site.name, site.scheduler),
                    origin_of_key(settings, "scheduler"),
                    fmt::format("{}{}   # or {}", flag ? "--" : "scheduler: ", site.scheduler, other)});
}

// Where the application travels in the account's place there is no room for both.
void check_account(const JobSpec& job, const templates::SiteProfile& site, const JobSettings& settings,
                   std::vector<Message>& errors) {
  const bool pbs = is_pbs_like(job.scheduler);
  const std::string form = site.application_directive.empty() && pbs ? "-A {}" : site.application_directive;
  const bool same_place = form.starts_with("-A") || form.starts_with("--account");
  if (!same_place || job.account.empty() || job.application.empty()) return;
  errors.push_back(
      {fmt::format("account {} and application {} would both be '{}'", job.account, job.application, form),
       origin_of_key(settings, "account"),
       "leave out account, or a profile with another application_directive"});
}

}  // namespace

JobSettings profile_settings(const templates::SiteProfile& site, std::vector<Message>& errors) {
  JobSettings settings;
  for (const auto& [word, value] : site.defaults) {
    const std::string origin = origin_in(site, value.line);
    const std::string key(canonical_key(word));
    if (key.empty() || key == "site" || key == "scheduler") {
      Message error = unknown_key(word, origin);
      if (!key.empty()) {
        error = {fmt::format("'{}' is no default of a profile", key), origin,
                 key == "site" ? "leave it out" : "scheduler: ... at the top of the profile"};
      }
      errors.push_back(std::move(error));
    } else {
      settings.emplace(key, Setting{value, origin});
    }
  }
  for (const std::string& key : site.required) {
    if (canonical_key(key).empty()) errors.push_back(unknown_key(key, origin_in(site, 0)));
  }
  if (!site.scheduler.empty())
    settings["scheduler"] = flag_setting("scheduler", site.scheduler, origin_in(site, 0));
  return settings;
}

std::vector<Message> check_against_site(const JobSpec& job, const templates::SiteProfile& site,
                                        const JobSettings& settings) {
  std::vector<Message> errors;
  check_required(job, site, settings, errors);
  check_walltime(job, site, settings, errors);
  check_scheduler_of(job, site, settings, errors);
  check_account(job, site, settings, errors);
  return errors;
}

bool asks_for_key(const Message& error) {
  return error.where.starts_with("profile ") && error.what.ends_with(for_every_job);
}

std::optional<Message> check_submit_directory(const templates::SiteProfile& site, std::string_view workdir,
                                              const JobSettings& settings) {
  if (site.submit_below.empty() || workdir.empty()) return std::nullopt;
  const std::string path = plain_path(workdir);
  for (const std::string& dir : site.submit_below) {
    if (is_below(path, plain_path(dir))) return std::nullopt;
  }
  const std::string where = origin_of_key(settings, "workdir");
  return Message{fmt::format("{} starts jobs only below {}, the working directory is {}", site.name,
                             join(site.submit_below, ", "), printable(path)),
                 where.empty() ? origin_in(site, 0) : where,
                 fmt::format("cd {}/$USER   # or workdir: {}/...", quote_shell(site.submit_below.front()),
                             site.submit_below.front())};
}

}  // namespace ddlrun::schedulers
