// SPDX-License-Identifier: MIT
// Rendered job scripts against bash itself: `scripts rounds COUNT SEED DIRECTORY STANDIN` renders random
// jobs, runs each script with a stand-in for ddlrun, srun and module, and compares what arrived with what was
// meant. `scripts samples COUNT DIRECTORY` writes scripts for judges of their text.
#include "base/text/error.hpp"
#include "scripts_jobs.hpp"
#include "scripts_known.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace fs = std::filesystem;
using namespace ddlrun::schedulers;

namespace {

struct Record {
  std::string name, directory;
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;
};

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Record> read_records(const std::string& path) {
  const std::string bytes = read_all(path);
  std::size_t at = 0;
  const auto next = [&] {
    const std::string word = bytes.c_str() + at;
    at += word.size() + 1;
    return word;
  };
  std::vector<Record> records;
  while (at < bytes.size()) {
    Record& record = records.emplace_back();
    record.name = next();
    for (int left = std::stoi(next()); left > 0; --left) record.words.push_back(next());
    record.directory = next();
    for (int left = std::stoi(next()); left > 0; --left) {
      const std::string entry = next();
      record.environment[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
    }
  }
  return records;
}

int run_bash(const std::string& script, const std::vector<std::string>& environment) {
  std::vector<std::string> words{"bash", script};
  std::vector<char*> argv, env;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> entries = environment;
  for (std::string& entry : entries) env.push_back(entry.data());
  env.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string log = environment[0].substr(environment[0].find('=') + 1) + ".err";
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  if (posix_spawn(&child, "/bin/bash", &actions, nullptr, argv.data(), env.data()) != 0) return 99;
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct Judge {
  std::string place, standin, canary, record;
  int differences = 0, refused = 0, accepted = 0, words = 0, values = 0;

  void differs(const std::string& what, const Script& script) {
    if (++differences <= 5)
      std::printf("DIFFERS: %s\n%s\n%s\n", what.c_str(), script.text().c_str(),
                  read_all(record + ".err").c_str());
  }
};

// No line of the script but those of its directives begins as one, and they stand before the first command.
bool directives_stand_alone(const Script& script) {
  std::istringstream text(script.text());
  std::size_t count = 0;
  bool command_seen = false;
  for (std::string line; std::getline(text, line);) {
    const bool directive = line.starts_with("#SBATCH") || line.starts_with("#PBS");
    if (directive && command_seen) return false;
    count += directive ? 1 : 0;
    command_seen = command_seen || (!line.empty() && line[0] != '#');
  }
  return count == script.directives.size() && text.str().find('\r') == std::string::npos;
}

std::vector<std::string> expected_words(const JobSpec& job) {
  std::vector<std::string> words;
  if (job.container) words = {"apptainer", "exec", "--bind", job.container->binds[0], job.container->image};
  words.insert(words.end(), job.program.begin(), job.program.end());
  return words;
}

void compare_environment(Judge& judge, const AttackedJob& made, const Record& record, const Script& script) {
  std::set<std::string> known{
      "PATH",         "PWD", "OLDPWD", "SHLVL", "_", "LC_ALL", "STANDIN_RECORD", "DDLRUN_RESTART_COUNT",
      "DDLRUN_JOB_ID"};
  std::map<std::string, std::string> meant;
  for (const std::string& entry : made.job.environment)
    meant[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
  if (made.job.data) meant["DDLRUN_DATA"] = made.job.data->from;
  if (made.job.runner == Runner::srun && made.job.srun_mpi == "pmix")
    meant.emplace("SLURM_PMIX_FENCE", "ring");
  for (const auto& [name, value] : meant) {
    ++judge.values;
    const auto found = record.environment.find(name);
    if (found == record.environment.end() || found->second != value)
      judge.differs("value of " + name, script);
  }
  for (const auto& [name, value] : record.environment)
    if (!known.contains(name) && !meant.contains(name))
      judge.differs("a variable from nowhere: " + name, script);
}

void compare(Judge& judge, const AttackedJob& made, const Script& script, int status) {
  std::vector<Record> records = read_records(judge.record);
  const JobSpec& job = made.job;
  if (!job.modules.empty()) {
    std::vector<std::string> load{"load"};
    load.insert(load.end(), job.modules.begin(), job.modules.end());
    if (records.empty() || records[0].name != "module" || records[0].words != load)
      return judge.differs("modules", script);
    records.erase(records.begin());
    judge.words += 2;
  }
  if (records.size() != 1)
    return judge.differs(std::to_string(records.size()) + " programs were started", script);
  const Record& record = records[0];
  std::vector<std::string> words = record.words;
  if (job.runner != Runner::none) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes == words.end()) return judge.differs("no --", script);
    const auto directory = std::find(words.begin(), dashes, "--run-dir");
    const bool has_directory =
        directory != dashes && (directory + 1)->starts_with(made.directory.path + "/run.");
    if (job.runner == Runner::ddlrun && !has_directory) judge.differs("the run directory", script);
    words.erase(words.begin(), dashes + 1);
  } else {
    words.insert(words.begin(), job.program[0]);
  }
  judge.words += static_cast<int>(words.size());
  if (words != expected_words(job)) judge.differs("argv", script);
  if (record.directory != job.workdir) judge.differs("the working directory", script);
  const int meant = static_cast<int>(record.words.size() + 1) % 80;
  if (status != meant) judge.differs("status " + std::to_string(status), script);
  if (read_all(made.directory.exit_status()) != std::to_string(meant) + "\n")
    judge.differs("exit_status", script);
  compare_environment(judge, made, record, script);
}

void run_round(Judge& judge, Random& random) {
  AttackedJob made = attacked_job(random, judge.place, judge.canary);
  JobSpec& job = made.job;
  if (job.runner == Runner::none) {
    job.container.reset();
    job.program[0] = judge.standin + "/program";
  }
  fs::create_directories(job.workdir);
  fs::create_directories(made.directory.path);
  const Script script = render_any(job, made.directory);
  if (!directives_stand_alone(script)) judge.differs("directives", script);
  const std::string file = judge.place + "/job.sh";
  std::ofstream(file, std::ios::binary) << script.text();
  const char* locale = below(random, 2) == 0 ? "LC_ALL=C" : "LC_ALL=C.UTF-8";
  const int status =
      run_bash(file, {"STANDIN_RECORD=" + judge.record, "PATH=" + judge.standin + ":/usr/bin:/bin", locale});
  compare(judge, made, script, status);
  fs::remove_all(job.workdir);
  if (made.directory.path != judge.place) fs::remove_all(made.directory.path);
  for (const std::string& used : {judge.record, made.directory.exit_status()}) fs::remove(used);
}

// Where an attack on a directive is not refused, its text is harmless by a rule that is not ours: it is one
// word for the shell and for the scheduler.
void attack_round(Judge& judge, Random& random) {
  constexpr std::array kinds{SchedulerKind::slurm, SchedulerKind::pbs, SchedulerKind::torque};
  JobSpec job;
  job.scheduler = kinds[below(random, kinds.size())];
  job.program = {"./train"};
  job.workdir = "/w";
  const std::string text = attack_word(random, judge.canary);
  const std::string key = attack_directive(job, random, text);
  try {
    const Script script = render_any(job, {"/directory"});
    ++judge.accepted;
    if (!directives_stand_alone(script)) judge.differs("directives by " + key, script);
    for (const std::string& line : script.directives) {
      const std::size_t at = text.empty() ? std::string::npos : line.find(text);
      if (at != std::string::npos && text.find_first_of(" \t\n\r'\"`$#;<>\\") != std::string::npos)
        judge.differs(key + " was not refused", script);
    }
  } catch (const ddlrun::Error&) {
    ++judge.refused;
  }
}

// A user's own template with placeholders where they belong, and where they do not: there a value may become
// ugly, but nothing is expanded.
void template_round(Judge& judge, Random& random) {
  constexpr std::string_view text =
      "#!/bin/bash\n# {{words|sh}}\nexec >/dev/null\ncat <<END\n{{words|sh}}\nEND\n"
      "echo \"{{words|sh}}\" \"`echo {{words|sh}}`\" \"$(echo \"{{words|sh}}\")\" '{{words|sh}}'\n"
      "echo ${x:-{{words|sh}}} \"${x:-\"{{words|sh}}\"}\" a{{words|sh}}b\nprogram {{words|sh}}\n";
  std::vector<std::string> words;
  for (std::uint64_t left = 1 + below(random, 4); left > 0; --left)
    words.push_back(attack_word(random, judge.canary));
  const ddlrun::templates::FilledTemplate filled =
      ddlrun::templates::fill_template(text, "template", {{"words", words}});
  const std::string file = judge.place + "/filled.sh";
  std::ofstream(file, std::ios::binary) << filled.text;
  run_bash(file, {"STANDIN_RECORD=" + judge.record, "PATH=" + judge.standin + ":/usr/bin:/bin"});
  const std::vector<Record> records = read_records(judge.record);
  judge.words += static_cast<int>(words.size());
  if (!filled.errors.empty() || records.size() != 1 || records[0].words != words) {
    ++judge.differences;
    std::printf("DIFFERS: a template\n%s\n", filled.text.c_str());
  }
  fs::remove(judge.record);
}

int run_rounds(int count, std::uint64_t seed, const std::string& directory, const std::string& standin) {
  Judge judge;
  judge.place = directory;
  judge.standin = standin;
  judge.canary = directory + "/canary";
  judge.record = directory + "/record";
  Random random(seed);
  for (int round = 0; round < count; ++round) {
    run_round(judge, random);
    if (round % 10 == 0) template_round(judge, random);
    for (int i = 0; i < 10; ++i) attack_round(judge, random);
  }
  int canaries = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    canaries += entry.path().filename().string().starts_with("canary") ? 1 : 0;
  std::printf(
      "%d scripts run: %d words and %d values, %d differences, %d canaries; %d attacks on directives: "
      "%d refused, %d harmless\n",
      count, judge.words, judge.values, judge.differences, canaries, judge.refused + judge.accepted,
      judge.refused, judge.accepted);
  return judge.differences == 0 && canaries == 0 && judge.words > count && judge.refused > count ? 0 : 1;
}

int write_samples(int count, const std::string& directory) {
  constexpr std::array<std::pair<SchedulerKind, const char*>, 4> kinds{{{SchedulerKind::slurm, "slurm"},
                                                                        {SchedulerKind::pbs, "pbs"},
                                                                        {SchedulerKind::torque, "torque"},
                                                                        {SchedulerKind::local, "local"}}};
  Random random(7);
  for (int i = 0; i < count; ++i) {
    const auto& [kind, name] = kinds[static_cast<std::size_t>(i) % kinds.size()];
    const Script script = render_any(plain_job(random, kind), {"/scratch/me/.ddlrun/jobs/0001"});
    std::ofstream(directory + "/" + name + "_" + std::to_string(i) + ".sh", std::ios::binary)
        << script.text();
  }
  return 0;
}

int show_known(const std::string& name, const std::string& directory) {
  for (const auto& [known, job] : known_jobs(directory)) {
    if (known == name) return std::fputs(render_any(job, {directory}).text().c_str(), stdout) < 0 ? 1 : 0;
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 5 && words[0] == "rounds")
      return run_rounds(std::stoi(words[1]), std::stoull(words[2]), words[3], words[4]);
    if (words.size() == 3 && words[0] == "known") return show_known(words[1], words[2]);
    if (words.size() == 3 && words[0] == "samples") return write_samples(std::stoi(words[1]), words[2]);
  } catch (const ddlrun::Error& error) {
    std::printf("%s\n", ddlrun::render_error("scripts", error.message()).c_str());
    return 1;
  }
  std::printf(
      "usage: scripts rounds COUNT SEED DIRECTORY STANDINS | samples COUNT DIRECTORY | known NAME "
      "DIRECTORY\n");
  return 2;
}
