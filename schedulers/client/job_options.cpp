// SPDX-License-Identifier: MIT
#include "schedulers/client/job_options.hpp"

#include "base/os/configuration_path.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_template.hpp"
#include "schedulers/client/job_variables.hpp"
#include "schedulers/client/node_fit.hpp"
#include "schedulers/client/scheduler_access.hpp"
#include "schedulers/client/site_files.hpp"
#include "schedulers/job/scheduler.hpp"
#include "schedulers/job/site_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace ddlrun::schedulers {

namespace {

// The shape is typed one way or the other: what is nearer to the user removes both from below.
JobSettings lay_over_shape(JobSettings over, JobSettings under) {
  if (over.count("dims") > 0 || over.count("nodes") > 0) {
    under.erase("dims");
    under.erase("nodes");
  }
  return merge_settings(std::move(over), under);
}

void set_scheduler(JobSettings& settings, const JobOptions& options) {
  const std::array given{std::pair{options.slurm, "slurm"}, std::pair{options.pbs, "pbs"},
                         std::pair{options.torque, "torque"}, std::pair{options.local, "local"}};
  std::string found;
  for (const auto& [is_given, name] : given) {
    if (!is_given) continue;
    if (!found.empty() || settings.count("scheduler") > 0) {
      throw Error(ErrorKind::usage,
                  {"more than one scheduler is named", "", fmt::format("--{} alone", name)});
    }
    found = name;
  }
  if (!found.empty()) settings["scheduler"] = flag_setting("scheduler", found, "--" + found);
}

// "h1" and "h2" are hosts apart; "python" and "train.py" are a program.
bool are_numbered_alike(const std::vector<std::string>& words) {
  const auto stem = [](const std::string& word) {
    const std::size_t last = word.find_last_not_of("0123456789");
    return last == std::string::npos ? std::string() : word.substr(0, last + 1);
  };
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return !stem(word).empty() && stem(word) == stem(words[0]) && stem(word) != word;
  });
}

// "submit 4x2x1 ./train", "submit 4x2x1 python train.py": a shape begins with a digit, neither it nor a host
// has a slash, and hosts are one word.
void refuse_program_without_dashes(const JobOptions& options) {
  std::vector<std::string> words = options.extra;
  if (!options.hosts.empty()) words.insert(words.begin(), options.hosts);
  const bool no_shape = !options.dims.empty() && (options.dims[0] < '0' || options.dims[0] > '9');
  if (no_shape) words.insert(words.begin(), options.dims);
  const bool slash = !words.empty() && options.program.empty() && words[0].find('/') != std::string::npos;
  if (!no_shape && !slash && options.extra.empty()) return;
  if (options.program.empty() && !(no_shape && options.hosts.empty() && !slash)) {
    const std::string what = fmt::format("'{}' is neither DIMS nor HOSTS", printable(words[0], 60));
    if (are_numbered_alike(words))
      throw Error(ErrorKind::usage,
                  {fmt::format("unknown argument '{}' of ddlrun submit",
                               printable(options.extra.empty() ? words[0] : options.extra[0], 60)),
                   "", "join hosts with commas: " + printable(join(words, ","), 200)});
    throw Error(ErrorKind::usage,
                {what, "the program follows '--'", "-- " + printable(render_shell(words), 200)});
  }
  if (options.extra.empty()) return;  // the shape is refused where shapes are read
  throw Error(ErrorKind::usage,
              {fmt::format("unknown argument '{}' of ddlrun submit", printable(options.extra[0], 60)), "",
               are_numbered_alike(words) ? "join hosts with commas: " + printable(join(words, ","), 200)
                                         : std::string("ddlrun submit --help")});
}

std::string variable_of(std::string_view key) { return "DDLRUN_" + to_upper(key); }

// A job sets DDLRUN_DATA for its program, and jobs that this program submits must not inherit it.
constexpr std::string_view data_variable = "DDLRUN_DATA";
// What ddlrun itself sets or reads.
constexpr auto own_variables = std::to_array<std::string_view>(
    {data_variable, "DDLRUN_SITE_DIR", "DDLRUN_JOB_ID", "DDLRUN_RESTART_COUNT", "DDLRUN_RESTARTS",
     "DDLRUN_ARRAY_INDEX", "DDLRUN_SSH", "DDLRUN_VERSION", "DDLRUN_RANK", "DDLRUN_SIZE", "DDLRUN_LOCAL_RANK",
     "DDLRUN_LOCAL_SIZE", "DDLRUN_NODE_RANK", "DDLRUN_NODE_COUNT"});

// Nearly the name of a setting: it would be lost without a word.
void refuse_misspelt_variables(const Environment& environment, std::vector<Message>& errors) {
  std::vector<std::string> names;
  for (const JobKey& key : job_keys()) names.push_back(variable_of(key.name));
  for (const auto& [name, value] : environment.variables) {
    if (!name.starts_with("DDLRUN_") || value.empty()) continue;
    if (std::find(own_variables.begin(), own_variables.end(), name) != own_variables.end()) continue;
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::vector<std::string> keys;
    for (const std::string& one : names) keys.push_back(one.substr(7));
    const auto meant = closest_match(name.substr(7), keys);
    if (meant)
      errors.push_back({fmt::format("{} is no setting of a job; DDLRUN_{} is", printable(name, 60), *meant),
                        printable(name, 60),
                        fmt::format("unset {0}; export DDLRUN_{1}={2}", name, *meant, quote_shell(value))});
  }
}

JobSettings settings_of_environment(const Environment& environment, std::vector<Message>& errors) {
  JobSettings settings;
  for (const JobKey& key : job_keys()) {
    const std::string name = variable_of(key.name);
    const std::string text = name == data_variable ? "" : environment.get(name);
    if (!text.empty()) settings[std::string(key.name)] = flag_setting(key.name, text, name);
  }
  refuse_misspelt_variables(environment, errors);
  return settings;
}

// Outside a job somebody may have meant it for a setting.
void warn_of_data_variable(const Environment& environment, JobRequest& wanted) {
  const std::string value = environment.get(std::string(data_variable));
  if (value.empty() || !environment.get("DDLRUN_JOB_ID").empty() || wanted.settings.contains("data")) return;
  wanted.parsed.remarks.push_back(
      fmt::format("DDLRUN_DATA is not a setting of a job: the job sets it for its program; use --data {}",
                  printable(quote_shell(value), 200)));
}

JobSettings settings_of_file(System& system, const std::string& file, std::vector<Message>& errors) {
  return read_job_settings(system.files.read(file, max_settings_bytes), file, errors);
}

// All layers above the profile.
JobSettings settings_of_files(System& system, const JobOptions& options, JobLayers& layers) {
  std::vector<Message>& errors = layers.errors;
  JobSettings settings = settings_of_flags(options);
  if (options.again)
    return lay_over_shape(std::move(settings), settings_of_file(system, options.file, errors));
  settings = lay_over_shape(std::move(settings), settings_of_environment(system.environment, errors));
  const std::string near = system.files.exists("ddlrun.yaml") ? "ddlrun.yaml" : "";
  const std::string file = options.file.empty() ? near : options.file;
  if (!file.empty()) settings = lay_over_shape(std::move(settings), settings_of_file(system, file, errors));
  layers.configuration_files = find_configuration_files(system, "config.yaml");
  for (const std::string& configuration : layers.configuration_files)
    settings = lay_over_shape(std::move(settings), read_configuration(system, configuration, errors));
  return settings;
}

// --local runs any job file on this host; the site's profile is about another machine.
void drop_site_of_local_job(const JobOptions& options, JobLayers& layers) {
  const auto site = layers.settings.find("site");
  if (!options.local || site == layers.settings.end() || site->second.origin.starts_with("--")) return;
  layers.remarks.push_back(fmt::format("site {} ({}) does not apply: --local",
                                       printable(site->second.value.text, 60), site->second.origin));
  layers.settings.erase(site);
}

// The one that is named, else the plain one of the scheduler.
templates::SiteProfile find_site(System& system, const JobSettings& settings) {
  std::string name = text_of(settings, "site");
  if (name.empty()) {
    std::string scheduler = text_of(settings, "scheduler");
    if (scheduler.empty()) scheduler = name_of(find_scheduler(system));
    const auto plain = templates::generic_profile(scheduler);
    if (!plain) {
      templates::SiteProfile none;
      none.scheduler = scheduler;
      return none;
    }
    name = *plain;
  }
  return load_site(system, name);
}

// The profile's layer; where there is no profile, the scheduler that was found.
JobSettings settings_of_site(const templates::SiteProfile& site, std::vector<Message>& errors) {
  if (!site.name.empty()) return profile_settings(site, errors);
  return {{"scheduler", flag_setting("scheduler", site.scheduler, "this machine")}};
}

// Facts of this process: where it was called, and which binary it is.
void add_own(const Environment& environment, JobSettings& settings) {
  auto& dir = settings["workdir"];
  dir = flag_setting("workdir", environment.absolute(dir.value.text),
                     dir.origin.empty() ? "the current directory" : dir.origin);
  if (settings.count("ddlrun") == 0) {
    settings["ddlrun"] = flag_setting("ddlrun", environment.executable, "this ddlrun");
  }
}

// On the command line, or nowhere at all: no shape, no program.
bool is_typed(const Message& error) {
  return error.where.empty() || error.where.starts_with("--") || error.where == "the command line" ||
         error.where == "behind '--'";
}

// "submit 4x2x1 python": one bare word more, and no program. The word may be a host or the program.
bool may_lack_dashes(const JobOptions& options, const JobSettings& settings) {
  const bool is_bare = !options.hosts.empty() && options.hosts.find_first_of(",[@") == std::string::npos;
  return is_bare && !settings.contains("program") && !settings.contains("template");
}

void hint_at_dashes(const JobOptions& options, std::vector<Message>& errors) {
  for (Message& error : errors)
    if (error.what == "there is no program")
      error.hint = fmt::format("-- {}   # if that is the program: it follows '--'",
                               printable(quote_shell(options.hosts), 60));
}

}  // namespace

std::string flag_of_key(std::string_view key) {
  std::string text = "--" + std::string(key);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

JobSettings settings_of_flags(const JobOptions& options) {
  refuse_program_without_dashes(options);
  JobSettings settings;
  for (const auto& [key, texts] : options.flags) {
    if (texts.empty()) continue;
    const std::string origin = flag_of_key(key);
    settings[key] = repeated_flag_setting(key, texts, origin);
  }
  set_scheduler(settings, options);
  const auto positional = [&](const std::string& key, const std::string& text) {
    if (text.empty()) return;
    if (settings.count(key) > 0) {
      throw Error(ErrorKind::usage,
                  {fmt::format("{} is given twice: '{}' and --{}", key, printable(text, 60), key), "",
                   "one of the two"});
    }
    settings[key] = flag_setting(key, text, "the command line");
  };
  positional("dims", options.dims);
  positional("hosts", options.hosts);
  if (!options.program.empty()) {
    settings["program"] = list_setting(options.program, "behind '--'");
  }
  return settings;
}

JobLayers load_job_layers(System& system, const JobOptions& options) {
  JobLayers layers;
  layers.settings = settings_of_files(system, options, layers);
  drop_site_of_local_job(options, layers);
  layers.site = find_site(system, layers.settings);
  layers.settings = lay_over_shape(std::move(layers.settings), settings_of_site(layers.site, layers.errors));
  add_own(system.environment, layers.settings);
  find_template(system, layers.site, layers.settings);
  return layers;
}

JobRequest load_job_request(System& system, const JobOptions& options, const CommandRunner& ask,
                            const PassedOptionCheck& check_passed) {
  JobLayers layers = load_job_layers(system, options);
  const std::vector<Message>& errors = layers.errors;
  JobRequest wanted;
  const bool lacks_dashes = may_lack_dashes(options, layers.settings);
  if (lacks_dashes) layers.settings.erase("hosts");  // errors of a host that is none would mislead
  wanted.settings = std::move(layers.settings);
  wanted.site = std::move(layers.site);
  wanted.configuration_files = std::move(layers.configuration_files);
  wanted.parsed = read_job(wanted.settings);
  complete_cores(ask, wanted);
  complete_shared_cpus(ask, wanted);
  resolve_variables(system.environment, options.dry_run, wanted);
  warn_of_data_variable(system.environment, wanted);
  wanted.parsed.remarks.insert(wanted.parsed.remarks.begin(), layers.remarks.begin(), layers.remarks.end());
  auto& all = wanted.parsed.errors;
  SettingReader reader(wanted.settings, all);
  if (check_passed) check_passed(reader, wanted.parsed.job);
  if (lacks_dashes) hint_at_dashes(options, all);
  const bool typed = errors.empty() && std::all_of(all.begin(), all.end(), is_typed);
  all.insert(all.begin(), errors.begin(), errors.end());
  const JobSpec& job = wanted.parsed.job;
  auto breaches = check_against_site(job, wanted.site, wanted.settings);
  if (const auto misplaced = check_submit_directory(wanted.site, job.workdir, wanted.settings)) {
    if (options.dry_run)
      wanted.parsed.remarks.push_back("warning: " + misplaced->what + "; try: " + misplaced->hint);
    else
      breaches.push_back(*misplaced);
  }
  all.insert(all.end(), breaches.begin(), breaches.end());
  all = sorted_by_place(std::move(all));
  if (typed && breaches.empty()) wanted.errors_kind = ErrorKind::usage;
  if (!all.empty()) return wanted;
  read_template(system, wanted);
  const bool only_typed = std::all_of(all.begin(), all.end(), is_typed);
  wanted.errors_kind = only_typed ? ErrorKind::usage : ErrorKind::request;
  return wanted;
}

std::vector<Message> check_settings(System& system, const JobSettings& settings) {
  std::vector<Message> errors;
  const templates::SiteProfile site = find_site(system, settings);
  JobSettings all = lay_over_shape(settings, settings_of_site(site, errors));
  add_own(system.environment, all);
  find_template(system, site, all);
  const ParsedJob parsed = read_job(all);
  const auto breaches = check_against_site(parsed.job, site, all);
  errors.insert(errors.end(), parsed.errors.begin(), parsed.errors.end());
  errors.insert(errors.end(), breaches.begin(), breaches.end());
  return errors;
}

int print_errors(System& system, const JobRequest& wanted) {
  for (const Message& message : wanted.parsed.errors) system.err(render_error("ddlrun", message));
  return exit_code(wanted.errors_kind);
}

}  // namespace ddlrun::schedulers
