// SPDX-License-Identifier: MIT
#include "schedulers/slurm/slurm_answers.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/node_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace ddlrun::schedulers {

namespace {

constexpr std::size_t kMostTasks = 10000;
constexpr int kNoOutput = 53;    // "0:53"
constexpr int kLastSignal = 64;  // "0:125" is Slurm's mark for out of memory

bool is_job_number(std::string_view text) { return parse_unsigned(text).has_value(); }

bool is_cluster_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

// "7", "15_3", "15_[2-5%2]", "15+1"
bool is_slurm_job_id(std::string_view text) {
  const std::string_view part = job_part(text);
  if (!is_job_number(part)) return false;
  const std::string_view rest = text.substr(part.size());
  return std::all_of(rest.begin(), rest.end(), [](unsigned char c) {
    return std::isdigit(c) != 0 ||
           std::string_view("_+[]-,%:.").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::string_view known(std::string_view value) {
  for (const std::string_view nothing : {"None", "(null)", "None assigned", "N/A"})
    if (value == nothing) return {};
  return value;
}

// The text between `key` and `end` at or after `from`; `from` moves behind it.
struct FieldReader {
  std::string_view row;
  std::size_t from = 0;

  std::string_view next(std::string_view key, std::string_view end) {
    const std::size_t at = row.find(key, from);
    if (at == std::string_view::npos) return {};
    const std::size_t begin = at + key.size();
    const std::size_t stop = std::min(row.find(end, begin), row.size());
    from = stop;
    return row.substr(begin, stop - begin);
  }
};

// "3:0", "0:15": code and signal of the batch script.
void set_slurm_exit(JobStatus& status, std::string_view exit_code) {
  const auto parts = split(exit_code, ':');
  if (parts.size() != 2) return;
  const auto code = parse_unsigned(parts[0], 255);
  const auto signal = parse_unsigned(parts[1], 255);
  if (!code || !signal) return;
  // The numbers of these are Slurm's own ("0:1" of a time limit), or nothing ran.
  const bool own_end = status.state == JobState::completed || status.state == JobState::failed;
  const bool is_known = own_end || (status.state == JobState::cancelled && (*code != 0 || *signal != 0));
  if (!is_known || (status.hosts.empty() && status.state != JobState::completed)) return;
  status.signal = *signal <= kLastSignal ? static_cast<int>(*signal) : 0;
  status.exit_status = status.signal != 0 ? 128 + status.signal : static_cast<int>(*code);
  if (status.signal != kNoOutput || *code != 0 || status.state != JobState::failed) return;
  // No signal ended it: nothing of it has run.
  status.signal = 0;
  status.exit_status.reset();
  status.reason = "ExitCode " + std::string(exit_code);
  status.explained =
      "Slurm could not open the job's output file or enter its directory on the node, and nothing of it ran: "
      "is "
      "it on a file system that the nodes see, and writable there?";
}

JobStatus make_status(JobId id, std::string_view word, std::string_view hosts, std::string_view reason) {
  JobStatus status;
  status.id = std::move(id);
  status.word = word;
  status.hosts = known(hosts);
  status.reason = known(reason);
  status.state = slurm_state(word, reason);
  if (is_over(status.state) && !is_slurm_end_reason(status.reason)) status.reason.clear();
  status.explained = explain_slurm(status.state, word, status.reason);
  if (status.state == JobState::queued) status.remedy = slurm_never_remedy(status.reason);
  status.never = !status.remedy.empty();
  status.waits_turn =
      status.state == JobState::queued && (status.reason == "Priority" || status.reason == "Resources");
  constexpr std::string_view kId = " ID";  // in what is to be typed
  for (std::size_t at = 0; (at = status.explained.find(kId, at)) != std::string::npos; at += kId.size())
    status.explained.replace(at + 1, kId.size() - 1, status.id);
  return status;
}

// What has not run has no run time; Slurm prints 0:00.
void set_run_time(JobStatus& status, std::string_view elapsed) {
  const bool ran = status.state == JobState::running || (is_over(status.state) && !status.hosts.empty());
  if (ran) status.run_seconds = parse_elapsed(elapsed);
}

void add_tasks(std::vector<JobStatus>& statuses, const JobStatus& status) {
  for (JobId& id : expand_tasks(status.id)) {
    statuses.push_back(status);
    statuses.back().id = std::move(id);
  }
}

// "2026-11-27T07:59:46" -> "07:59:46" where `submitted` has the same date: today's, since the time is yet to
// come.
std::string begin_time(std::string_view eligible, std::string_view submitted) {
  const std::size_t t = eligible.find('T');
  if (t == std::string_view::npos || eligible.find(':') == std::string_view::npos) return {};  // "Unknown"
  const std::string time(eligible.substr(t + 1));
  return eligible.substr(0, t) == submitted.substr(0, t) ? time
                                                         : fmt::format("{} {}", eligible.substr(0, t), time);
}

// Slurm 26.05, batch_requeue_fini(): a requeued job waits for SchedulerParameters=requeue_delay, 120 s by
// default.
std::string explain_begin_time(int restarts, const std::string& time) {
  if (restarts == 0) return fmt::format("it starts at {} at the earliest, which is its begin time", time);
  return fmt::format(
      "it starts again at {} at the earliest: Slurm keeps a requeued job back, by default for two minutes",
      time);
}

// One job of `scontrol -o show job`. The job's name stands before the fields that are read, so what it holds
// is passed over; paths and comments stand behind them.
std::optional<JobStatus> parse_scontrol_row(std::string_view row) {
  FieldReader head{row};
  JobId id(head.next("JobId=", " "));
  if (!is_job_number(id)) return std::nullopt;
  const std::size_t name = row.find(" JobName=");
  const std::string_view ids = row.substr(0, std::min(name, row.size()));
  FieldReader array{ids}, het{ids};
  if (const std::string_view base = array.next(" ArrayJobId=", " "); !base.empty()) {
    const std::string_view task = array.next(" ArrayTaskId=", " ");
    const bool one = parse_unsigned(task).has_value();
    id = std::string(base) + (one ? "_" + std::string(task) : "_[" + std::string(task) + "]");
  } else if (const std::string_view leader = het.next(" HetJobId=", " "); !leader.empty()) {
    id = std::string(leader) + "+" + std::string(het.next(" HetJobOffset=", " "));
  }
  FieldReader fields{row, std::min(row.find(" UserId="), row.size())};
  const std::string_view word = fields.next(" JobState=", " ");
  if (word.empty()) return std::nullopt;
  const std::string_view reason = fields.next(" Reason=", " Dependency=");
  const std::string_view restarts = fields.next(" Restarts=", " ");
  const std::string_view exit_code = fields.next(" ExitCode=", " ");
  const std::string_view elapsed = fields.next(" RunTime=", " ");
  const std::string_view submitted = fields.next(" SubmitTime=", " ");
  const std::string_view eligible = fields.next(" EligibleTime=", " ");
  const std::string_view queue = fields.next(" Partition=", " ");
  const std::string_view hosts = fields.next(" NodeList=", " ");
  JobStatus status = make_status(std::move(id), word, hosts, reason);
  constexpr std::string_view name_key = " JobName=";
  const std::size_t user = row.find(" UserId=");
  if (name != std::string_view::npos && user != std::string_view::npos && user > name)
    status.name = known(row.substr(name + name_key.size(), user - name - name_key.size()));
  const std::string_view error_output = fields.next(" StdErr=", " StdIn=");
  status.output = known(fields.next(" StdOut=", " Power="));
  if (error_output != status.output) status.error_output = known(error_output);
  status.restarts = static_cast<int>(parse_unsigned(restarts, 1u << 20).value_or(0));
  const std::string begins = is_kept_back(status) ? begin_time(eligible, submitted) : "";
  if (!begins.empty()) status.explained = explain_begin_time(status.restarts, begins);
  set_slurm_exit(status, exit_code);
  status.queue = known(queue);
  set_run_time(status, elapsed);
  if (status.signal != 0 && status.reason == "JobLaunchFailure")  // Slurm's reason, though it ran
    status.explained = "the script itself was killed with signal " + std::to_string(status.signal) +
                       ": by an administrator, or by the kernel of a node without memory";
  return status;
}

}  // namespace

std::optional<std::uint64_t> parse_elapsed(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto days = dash == std::string_view::npos ? std::optional<std::uint64_t>(0)
                                                   : parse_unsigned(text.substr(0, dash), 1u << 20);
  const auto parts = split(dash == std::string_view::npos ? text : text.substr(dash + 1), ':');
  if (!days || parts.size() > 3) return std::nullopt;
  std::uint64_t seconds = 0;
  for (const std::string_view part : parts) {
    const auto value = parse_unsigned(part.substr(0, part.find('.')), 1u << 30);
    if (!value) return std::nullopt;
    seconds = seconds * 60 + *value;
  }
  return *days * 86400 + seconds;
}

bool is_kept_back(const JobStatus& status) {
  return status.state == JobState::queued && status.reason == "BeginTime";
}

std::string_view job_part(std::string_view id) { return id.substr(0, id.find_first_of("_+")); }

std::vector<JobId> expand_tasks(const JobId& id) {
  const std::size_t open = id.find("_[");
  if (open == std::string::npos || id.back() != ']') return {id};
  std::string_view list = std::string_view(id).substr(open + 2, id.size() - open - 3);
  list = list.substr(0, list.find('%'));  // "%2": two at once
  const auto indices = parse_ranges(list, 4'000'000);
  if (!indices || indices->size() > kMostTasks) return {id};
  std::vector<JobId> ids;
  for (const int index : *indices) ids.push_back(id.substr(0, open + 1) + std::to_string(index));
  return ids;
}

std::optional<JobId> parse_sbatch(std::string_view out) {
  for (std::string_view line : split(out, '\n')) {
    line = trim(line);
    constexpr std::string_view kLong = "Submitted batch job ";
    if (line.substr(0, kLong.size()) == kLong) {
      line.remove_prefix(kLong.size());
      line = line.substr(0, line.find(' '));  // "... on cluster x"
    }
    const std::size_t semicolon = line.find(';');
    const bool good = is_job_number(line.substr(0, semicolon)) &&
                      (semicolon == std::string_view::npos || is_cluster_name(line.substr(semicolon + 1)));
    if (good) return JobId(line);
  }
  return std::nullopt;
}

std::vector<JobStatus> parse_squeue(std::string_view out) {
  std::vector<JobStatus> statuses;
  for (std::string_view line : split(out, '\n')) {
    std::array<std::string_view, 4> fields;
    std::size_t count = 0;
    line = trim(line);
    const std::string_view first = line.substr(0, line.find('|'));  // no id holds a ';'
    const std::size_t semicolon = first.find(';');
    if (semicolon != std::string_view::npos) line.remove_prefix(std::min(first.size() + 1, line.size()));
    for (; count < 3; ++count) {
      const std::size_t bar = line.find('|');
      if (bar == std::string_view::npos) break;
      fields[count] = line.substr(0, bar);
      line.remove_prefix(bar + 1);
    }
    if (count < 3 || !is_slurm_job_id(fields[0]) || fields[1].empty()) continue;
    JobStatus status = make_status(JobId(fields[0]), fields[1], fields[2], line);
    if (semicolon != std::string_view::npos) {
      status.queue = known(first.substr(semicolon + 1));
      set_run_time(status, first.substr(0, semicolon));
    }
    add_tasks(statuses, status);
  }
  return statuses;
}

std::vector<JobStatus> parse_scontrol_jobs(std::string_view out) {
  std::vector<std::string> rows;
  for (const std::string_view line : split(out, '\n')) {
    // A newline in a job's name breaks its row.
    const bool begins = line.substr(0, 6) == "JobId=" || rows.empty();
    if (begins)
      rows.emplace_back(line);
    else
      rows.back() += " " + std::string(line);
  }
  std::vector<JobStatus> statuses;
  for (const std::string& row : rows)
    if (const auto status = parse_scontrol_row(row)) add_tasks(statuses, *status);
  return statuses;
}

std::vector<JobStatus> parse_sacct(std::string_view out) {
  std::vector<JobStatus> statuses;
  for (const std::string_view line : split(out, '\n')) {
    const auto fields = split(trim(line), '|');
    const bool a_job =
        fields.size() >= 3 && is_slurm_job_id(fields[0]) && fields[0].find('.') == std::string_view::npos;
    if (!a_job) continue;  // the header, a step
    JobStatus status =
        make_status(JobId(fields[0]), fields[1], fields.size() > 3 ? fields[3] : std::string_view(), "");
    // Without its column of nodes it is unknown whether it ran.
    const std::string hosts = std::exchange(status.hosts, fields.size() > 3 ? status.hosts : "?");
    set_slurm_exit(status, fields[2]);
    status.hosts = hosts;
    if (fields.size() > 5) {
      status.queue = known(fields[4]);
      set_run_time(status, fields[5]);
    }
    add_tasks(statuses, status);
  }
  return statuses;
}

namespace {

// "gpu:a100:4(S:0-1),gpu:v100:2,nvme:1" -> 6; "(null)": none.
std::uint32_t gpus_of_gres(std::string_view text) {
  std::uint64_t sum = 0;
  for (std::string_view part : split(text, ',')) {
    part = part.substr(0, part.find('('));
    if (part != "gpu" && !part.starts_with("gpu:")) continue;
    sum += parse_unsigned(part.substr(part.rfind(':') + 1), 1u << 10).value_or(1);  // "gpu", "gpu:a100": one
  }
  return static_cast<std::uint32_t>(sum);
}

}  // namespace

std::vector<ListedNode> parse_sinfo_nodes(std::string_view out) {
  std::map<std::string, ListedNode> nodes;  // a node has a line for each of its partitions
  for (const std::string_view line : split(out, '\n')) {
    const auto words = split(trim(line), ' ');
    if (words.size() != 5) continue;
    const auto sockets = parse_unsigned(words[1], 1u << 10), cores = parse_unsigned(words[2], 1u << 10);
    const std::uint64_t product = sockets.value_or(0) * cores.value_or(0);
    ListedNode& node = nodes[std::string(words[0])];
    node.name = words[0];
    node.cores = static_cast<std::uint32_t>(product);
    node.cpus = static_cast<std::uint32_t>(parse_unsigned(words[3], 1u << 20).value_or(0));
    node.gpus = gpus_of_gres(words[4]);
  }
  std::vector<ListedNode> listed;
  for (auto& [name, node] : nodes) listed.push_back(std::move(node));
  return listed;
}

}  // namespace ddlrun::schedulers
