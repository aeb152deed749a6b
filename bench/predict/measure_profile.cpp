// SPDX-License-Identifier: MIT
#include "bench/predict/measure_profile.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "bench/scaling/bench_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::bench_predict {
namespace {

constexpr std::uint64_t most_profile_bytes = 256u << 20;

struct ProfileFiles {
  std::string metrics, timeline;
};
ProfileFiles files_of(const std::string& directory, int ranks) {
  const std::string stem = fmt::format("{}/{}-ranks", directory, ranks);
  return {stem + ".jsonl", stem + ".json"};
}

std::vector<int> rank_counts_of(const MeasureRequest& request) {
  return request.ranks_a_host == 1 ? std::vector{1} : std::vector{1, request.ranks_a_host};
}

// Of the files of files_of(), which are removed with it, also after a failure.
class ProfileDirectory {
 public:
  ProfileDirectory(System& system, std::vector<int> counts)
      : system_(system), counts_(std::move(counts)), path_(system.files.make_directory(prefix(system))) {}
  ~ProfileDirectory() {
    for (const int count : counts_) {
      const ProfileFiles files = files_of(path_, count);
      remove(files.metrics);
      remove(files.timeline);
    }
    remove(path_);
  }
  ProfileDirectory(const ProfileDirectory&) = delete;
  ProfileDirectory& operator=(const ProfileDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  static std::string prefix(const System& system) {
    const std::string temporary = system.environment.get("TMPDIR");
    return (temporary.empty() ? "/tmp" : temporary) + "/ddlrun-predict-";
  }
  void remove(const std::string& path) {
    try {
      system_.files.remove(path);
    } catch (const Error&) {
      // A run that fails need not have written its files, and its own error is the one to report.
    }
  }

  System& system_;
  std::vector<int> counts_;
  std::string path_;
};

}  // namespace

std::vector<std::string> predict_trainer_words(const std::vector<std::string>& given) {
  if (!given.empty() && !given[0].starts_with('-')) {
    throw Error(ErrorKind::usage, {fmt::format("'{}' is no option of ddl-train: predict runs nothing else",
                                               printable(given[0], 60)),
                                   "behind --", "ddlrun bench predict -- --net lenet5 --batch-size 64"});
  }
  for (const char* name :
       {"--global-batch", "--resume", "--checkpoint", "--metrics", "--timeline", "--parameter-servers"}) {
    if (!bench_report::has_option(given, name)) continue;
    throw Error(ErrorKind::usage,
                {fmt::format("{} cannot go with predict: it measures short runs of its own", name),
                 "behind --", "ddlrun bench predict -- --batch-size 64"});
  }
  std::vector<std::string> words = given;
  if (!bench_report::has_option(given, "--max-steps") && !bench_report::has_option(given, "--epochs") &&
      !bench_report::has_option(given, "--total-steps"))
    words.insert(words.end(), {"--max-steps", "200", "--epochs", "1000"});
  if (!bench_report::has_option(given, "--quiet")) words.emplace_back("--quiet");
  return words;
}

std::vector<Command> profile_commands(const Environment& environment, const MeasureRequest& request,
                                      const std::string& directory) {
  std::vector<Command> commands;
  for (const int ranks : rank_counts_of(request)) {
    bench_report::ScalingRequest run;
    run.plan.cores_a_rank = request.cores_a_rank;
    run.launch_options = request.launch_options;
    run.cores_given = request.cores_given;
    run.trainer_words = request.trainer_words;
    const ProfileFiles files = files_of(directory, ranks);
    run.trainer_words.insert(run.trainer_words.end(),
                             {"--metrics", files.metrics, "--timeline", files.timeline});
    // Computing and sums one after the other: neither slows the other.
    if (ranks > 1) run.trainer_words.insert(run.trainer_words.end(), {"--overlap", "off"});
    commands.push_back(bench_report::scaling_command(environment, run, {ranks, ranks, 1}));
  }
  return commands;
}

StepProfile measure_profile(System& system, const MeasureRequest& request) {
  const std::vector<int> counts = rank_counts_of(request);
  const ProfileDirectory scratch(system, counts);
  const std::vector<Command> commands = profile_commands(system.environment, request, scratch.path());
  StepProfile alone, profile;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string name = count_of(static_cast<std::uint64_t>(counts[i]), "rank") + " on this host";
    system.err(fmt::format("ddlrun: {} of {}: {} ...\n", i + 1, counts.size(), name));
    bench_report::run_bench_child(system, commands[i], name);
    const ProfileFiles files = files_of(scratch.path(), counts[i]);
    profile = read_profile(system.files.read(files.metrics, most_profile_bytes),
                           system.files.read(files.timeline, most_profile_bytes), name);
    if (i == 0) alone = profile;
  }
  profile.schedules = alone.schedules;
  profile.narrow_schedules = alone.narrow_schedules;
  profile.one_rank_step_ms = alone.one_rank_step_ms;
  profile.source = fmt::format("{} of {}", count_of(static_cast<std::uint64_t>(request.ranks_a_host), "rank"),
                               system.environment.host_name);
  return profile;
}

Command network_command(const Environment& environment, const std::vector<std::string>& hosts,
                        const std::vector<std::string>& launch_options, const std::string& ddl_bench) {
  Command command = {environment.executable, "launch", fmt::format("1x{}", hosts.size()), join(hosts, ",")};
  command.insert(command.end(), launch_options.begin(), launch_options.end());
  command.insert(command.end(), {"--", ddl_bench, "allreduce", "--sizes", "4k,16k,64k,256k,1M,4M,16M",
                                 "--backends", "ddl", "--seconds", "0.5", "--json", "-"});
  return command;
}

MeasuredSums measure_network(System& system, const Command& command) {
  system.err("ddlrun: sums between the hosts ...\n");
  return parse_measured_sums(bench_report::run_bench_child(system, command, "sums between the hosts").out,
                             "sums between the hosts");
}

}  // namespace ddlrun::bench_predict
