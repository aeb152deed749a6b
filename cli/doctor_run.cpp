// SPDX-License-Identifier: MIT
#include "cli/doctor_run.hpp"

#include "base/error.hpp"
#include "base/own_binary.hpp"
#include "cli/job_machines.hpp"
#include "cli/launch_program.hpp"
#include "doctor/baseline.hpp"
#include "doctor/job.hpp"
#include "doctor/network_plan.hpp"
#include "doctor/probe_mpi.hpp"
#include "doctor/probe_stress.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_set>

namespace ddlrun::cli {

namespace {

using doctor::HostReport;
using doctor::Question;
using Steady = std::chrono::steady_clock;

// "12 of 64 hosts", on a terminal after 300 ms, else every 10 s.
class Progress {
 public:
  Progress(System& system, std::size_t all) : system_(system), all_(all) {}
  ~Progress() {
    if (on_screen_) system_.err("\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void count_one() {
    ++done_;
    const bool terminal = system_.environment.stderr_is_terminal;
    const auto now = Steady::now();
    if (now - told_ < (terminal ? std::chrono::milliseconds(300) : std::chrono::seconds(10))) return;
    told_ = now;
    on_screen_ = terminal;
    system_.err(
        fmt::format("{}ddlrun: {} of {} hosts{}", terminal ? "\r" : "", done_, all_, terminal ? "" : "\n"));
  }

 private:
  System& system_;
  std::size_t all_, done_ = 0;
  bool on_screen_ = false;
  Steady::time_point told_ = Steady::now();
};

// Each host resolves every name up to here; of more, a spread of `sampled_names`, the same for all: names
// times hosts are questions to one DNS.
constexpr std::size_t most_names = 512;
constexpr std::size_t sampled_names = 128;

// Every name that the job uses, each once.
std::vector<std::string> names_of(const DoctorRequest& request) {
  std::vector<std::string> names = request.hosts;
  names.insert(names.end(), request.job.allocation.begin(), request.job.allocation.end());
  for (const auto& [host, ranks] : request.job.ranks_of_host) names.push_back(host);
  std::vector<std::string> unique;
  std::unordered_set<std::string> seen;
  for (std::string& name : names) {
    if (seen.insert(name).second) unique.push_back(std::move(name));
  }
  return unique;
}

std::vector<std::string> sample_names(const std::vector<std::string>& names) {
  if (names.size() <= most_names) return names;
  std::vector<std::string> sample;
  for (std::size_t i = 0; i < sampled_names; ++i) sample.push_back(names[i * names.size() / sampled_names]);
  return sample;
}

Question question_of(const DoctorRequest& request, const std::string& host,
                     const std::vector<std::string>& names) {
  const doctor::Job& job = request.job;
  Question question;
  question.level = request.choice.level;
  question.host = host;
  question.names = names;
  const auto ranks = job.ranks_of_host.find(host);
  question.ranks_here = ranks == job.ranks_of_host.end() ? 0 : ranks->second;
  question.ranks = job.ranks;
  question.cores_per_rank = job.cores_per_rank;
  doctor::ask_about_program(job, question);
  question.working_folder = job.working_folder;
  question.checkpoint_folder = job.checkpoint_folder;
  const auto temporary = job.environment.find("TMPDIR");
  if (temporary != job.environment.end()) question.temporary_folder = temporary->second;
  question.data_paths = job.data_paths;
  question.interface = job.interface;
  question.ports = job.ports;
  question.groups = request.groups;
  return question;
}

doctor::AgentBinary agent_binary(const Environment& environment) {
  OwnBinary own = read_own_binary();
  if (own.build_id.empty()) {
    throw Error(ErrorKind::request, {"this ddlrun was linked without a build id, by which hosts know it",
                                     environment.executable, "link it with -Wl,--build-id"});
  }
  return {environment.executable, own.build_id, own.loader, std::move(own.files)};
}

std::vector<Question> questions_of(const DoctorRequest& request, const Environment& environment,
                                   bool and_head) {
  std::vector<Question> questions;
  const std::vector<std::string> names = names_of(request);
  const std::vector<std::string> sample = sample_names(names);
  for (const std::string& host : request.hosts) {
    questions.push_back(question_of(request, host, sample));
    questions.back().is_head = is_this_host(environment, host);
  }
  if (and_head) {
    questions.push_back(question_of(request, environment.host_name, names));
    questions.back().is_head = true;
    questions.back().own_files = {request.job.hostfile_path, request.job.rankfile_path};
  }
  if (request.choice.level != doctor::Level::quick) {
    const auto random = static_cast<std::uint64_t>(Steady::now().time_since_epoch().count());
    doctor::plan_network_questions(request.job, std::span(questions).first(request.hosts.size()),
                                   and_head ? &questions.back() : nullptr, random);
  }
  return questions;
}

// A file in the working folder that every host should see soon after it was written (DIR-01).
class TokenFile {
 public:
  TokenFile(System& system, const doctor::Job& job) : files_(system.files) {
    if (job.working_folder.empty()) return;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    path_ = fmt::format("{}/.ddlrun-doctor-{:x}", job.working_folder, now);
    try {
      files_.write(path_, path_ + "\n");
    } catch (const Error&) {
      path_.clear();  // the checks of the working folder say why
    }
  }
  ~TokenFile() {
    try {
      if (!path_.empty()) files_.remove(path_);
    } catch (const Error&) {
    }
  }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  FileSystem& files_;
  std::string path_;
};

std::string baseline_file(System& system, const BaselineRequest& request) {
  if (!request.file.empty()) return request.file;
  const std::string state = system.environment.get("XDG_STATE_HOME");
  const std::string home = system.environment.get("HOME");
  const std::string folder = state.starts_with('/') ? state + "/ddlrun" : home + "/.local/state/ddlrun";
  system.files.make_folders(folder);
  return folder + "/baseline.json";
}

void use_baseline(System& system, const BaselineRequest& request, const std::vector<HostReport>& hosts,
                  doctor::Examination& examination) {
  if (request.verb.empty()) return;
  const std::string file = baseline_file(system, request);
  if (request.verb == "save") {
    const std::string now = fmt::format("{:%F %T} UTC", fmt::gmtime(system.clock.now()));
    system.files.write(file, doctor::render_baseline_json(doctor::make_baseline(hosts, now)));
    system.err(fmt::format("ddlrun: the facts of this run are kept in {}\n", file));
    return;
  }
  const auto baseline = doctor::parse_baseline_json(system.files.read(file, 256u << 20), file);
  auto findings = doctor::compare_with_baseline(baseline, hosts);
  std::move(findings.begin(), findings.end(), std::back_inserter(examination.findings));
}

}  // namespace

Gathered gather_from_hosts(System& system, const DoctorRequest& request) {
  const doctor::AgentBinary agent = agent_binary(system.environment);
  const TokenFile token(system, request.job);
  Gathered gathered;
  for (const doctor::Via via : request.paths) {
    const bool first = gathered.by_path.empty();
    std::vector<Question> questions = questions_of(request, system.environment, first);
    for (Question& question : questions) question.token_file = token.path();
    if (via != doctor::Via::ssh) {  // limits by the scheduler's path are its own, on this host too
      for (std::size_t i = 0; i < request.hosts.size(); ++i) questions[i].is_head = false;
    }
    doctor::ReachOptions options = request.reach;
    options.via = via;
    std::vector<HostReport> reports(questions.size());
    Progress progress(system, request.hosts.size());
    doctor::reach_hosts(system, questions, agent, options, [&](std::size_t host, HostReport&& report) {
      reports[host] = std::move(report);
      progress.count_one();
    });
    if (first) {
      gathered.head = std::move(reports.back());
      reports.pop_back();
    }
    gathered.by_path.push_back(std::move(reports));
  }
  return gathered;
}

namespace {

std::string find_own_trainer(System& system) {
  try {
    return choose_program(system, {}, true).command[0];
  } catch (const Error&) {
    return {};
  }
}

// Started only where it was asked for and mpirun is there.
void run_smoke(System& system, const DoctorRequest& request, std::span<const doctor::Check> checks,
               Gathered& gathered) {
  const bool chosen =
      std::any_of(checks.begin(), checks.end(), [](const auto& check) { return check.id == "MPI-06" || check.id == "STRESS-01"; });
  const auto mpirun = gathered.head.facts.text("mpi.program.mpirun");
  if (!chosen || request.choice.level == doctor::Level::quick || !mpirun) return;
  doctor::SmokeRun run{request.job, {}, find_own_trainer(system), std::string(*mpirun)};
  for (const HostReport& host : gathered.by_path[0]) {
    if (host.reach.problem.empty()) run.hosts.push_back(host.host);
  }
  gathered.head.facts.merge(doctor::probe_mpi(system, run));
  if (request.choice.level == doctor::Level::stress && gathered.head.facts.text("smoke.seconds"))
    gathered.head.facts.merge(doctor::probe_stress(system, run));
}

}  // namespace

doctor::Examination examine(System& system, const DoctorRequest& request, const BaselineRequest& baseline) {
  const auto begin = Steady::now();
  const auto checks = doctor::choose_checks(request.choice, doctor::all_checks());
  Gathered gathered = gather_from_hosts(system, request);
  run_smoke(system, request, checks, gathered);
  const std::span<const std::vector<HostReport>> paths(gathered.by_path);
  const doctor::CheckInput input{request.job, request.choice.level, gathered.head, gathered.by_path[0],
                                 paths.subspan(1)};
  doctor::Examination examination;
  examination.level = request.choice.level;
  examination.via = request.paths[0];
  examination.hosts = request.hosts;
  for (const HostReport& report : gathered.by_path[0]) {
    if (!report.reach.problem.empty()) examination.unreached.push_back(report.host);
  }
  examination.findings = doctor::run_checks(checks, input);
  use_baseline(system, baseline, gathered.by_path[0], examination);
  examination.seconds = std::chrono::duration<double>(Steady::now() - begin).count();
  return examination;
}

}  // namespace ddlrun::cli
