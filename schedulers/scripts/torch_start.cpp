// SPDX-License-Identifier: MIT
#include "schedulers/scripts/torch_start.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::job_scripts {

namespace {

// The word of the launcher: the first, or the module behind "python -m".
std::optional<std::size_t> launcher_position(const Command& words) {
  if (words.empty()) return std::nullopt;
  if (is_torchrun(words[0])) return 0;
  if (!base_name(words[0]).starts_with("python")) return std::nullopt;
  for (std::size_t i = 1; i + 1 < words.size() && words[i].starts_with('-'); ++i)
    if (words[i] == "-m") return is_torchrun(words[i + 1]) ? std::optional(i + 1) : std::nullopt;
  return std::nullopt;
}

enum class Meaning { processes, nodes, by_unwrap, rendezvous, unknown };

bool is_flag(std::string_view name) {
  return name == "m" || name == "module" || name == "no-python" || name == "use-env" || name == "standalone";
}

// Options of torchrun 2.5, with '-' for '_'.
Meaning meaning_of(std::string_view name) {
  constexpr std::array<std::string_view, 9> meeting{"node-rank",   "rdzv-backend", "rdzv-endpoint",
                                                    "rdzv-id",     "rdzv-conf",    "standalone",
                                                    "master-addr", "master-port",  "local-addr"};
  if (name == "nproc-per-node") return Meaning::processes;
  if (name == "nnodes") return Meaning::nodes;
  if (is_flag(name) && name != "standalone") return Meaning::by_unwrap;
  return std::ranges::find(meeting, name) == meeting.end() ? Meaning::unknown : Meaning::rendezvous;
}

class TorchReader {
 public:
  TorchReader(const ResourceRequest& request, const LaunchStep& step) : request_(request), step_(step) {}

  TorchStart read(const Command& words, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::string word = words[i];
      if (!word.starts_with('-')) continue;
      std::string name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
      const std::size_t equals = name.find('=');
      std::string value = equals == name.npos ? "" : name.substr(equals + 1);
      name.resize(std::min(equals, name.size()));
      std::ranges::replace(name, '_', '-');
      if (equals == std::string::npos && !is_flag(name) && i + 1 < end && !words[i + 1].starts_with('-')) {
        value = words[++i];
        word += " " + value;
      }
      take(meaning_of(name), word, value);
    }
    check_hosts();
    return std::move(start_);
  }

 private:
  void take(Meaning meaning, const std::string& word, const std::string& value) {
    if (meaning == Meaning::processes)
      read_processes(value);
    else if (meaning == Meaning::nodes)
      nodes_ = value;
    else if (meaning == Meaning::unknown)
      start_.wrong.push_back(word + " has no counterpart");
    is_standalone_ = is_standalone_ || word == "--standalone";
    if (meaning == Meaning::nodes || meaning == Meaning::rendezvous) start_.dropped.push_back(word);
  }

  void read_processes(const std::string& value) {
    const std::uint64_t gpus = request_.chunks.empty() ? 0 : request_.chunks.front().gpus;
    if (const auto number = parse_unsigned(value, max_count); number && *number > 0)
      start_.processes = *number;
    else if (value == "gpu" && gpus > 0)
      start_.processes = gpus;
    else
      start_.wrong.push_back(fmt::format("{} processes of each host: not known here, 1 is taken", value));
  }

  void check_hosts() {
    const std::uint64_t hosts = std::max<std::uint64_t>(1, node_count(request_));
    const auto number = parse_unsigned(nodes_, max_count);
    const bool is_computed = nodes_.starts_with('$');
    const bool is_alone = is_standalone_ || nodes_.empty() || number == 1;
    if (!is_alone && !is_computed && number != hosts)
      start_.wrong.push_back(fmt::format("--nnodes {}: the job has {} hosts", nodes_, hosts));
    if (step_.launcher.empty() && hosts > 1)
      start_.wrong.push_back(fmt::format("without srun it starts on the first of {} hosts only", hosts));
    if (step_.launcher.empty()) return;
    std::uint64_t agents = task_count(request_);
    if (step_.tasks_per_node > 0) agents = step_.tasks_per_node * hosts;
    if (step_.all_tasks() > 0) agents = step_.all_tasks();
    if (agents != hosts)
      start_.wrong.push_back(
          fmt::format("{} starts it {} time{} in a job of {} hosts: {} ranks of each are taken",
                      step_.launcher, agents, agents == 1 ? "" : "s", hosts, start_.processes));
    if (is_alone && std::min(agents, hosts) > 1)
      start_.notes.push_back(
          fmt::format("{}: this line ran {} separate trainings; ddlrun runs one on {} hosts",
                      is_standalone_   ? "--standalone"
                      : nodes_.empty() ? "no --nnodes"
                                       : "--nnodes " + nodes_,
                      agents, hosts));
  }

  const ResourceRequest& request_;
  const LaunchStep& step_;
  TorchStart start_;
  std::string nodes_;
  bool is_standalone_ = false;
};

}  // namespace

std::optional<TorchStart> read_torch_start(const Command& words, const LaunchStep& step,
                                           const ResourceRequest& request, const UnwrapLauncher& unwrap) {
  const auto launcher = launcher_position(words);
  if (!launcher) return std::nullopt;
  auto program = unwrap(words);
  if (!program || program->empty()) return std::nullopt;
  const std::size_t tail = count_common_tail(words, *program);
  TorchStart start = TorchReader(request, step).read(words, *launcher + 1, words.size() - tail);
  start.program = std::move(*program);
  return start;
}

bool is_torchrun(std::string_view word) {
  const std::string_view name = base_name(word);
  return name == "torchrun" || name == "torch.distributed.run" || name == "torch.distributed.launch";
}

std::size_t count_common_tail(const Command& words, const Command& program) {
  const auto differ = std::mismatch(words.rbegin(), words.rend(), program.rbegin(), program.rend());
  return static_cast<std::size_t>(differ.first - words.rbegin());
}

bool mentions_torchrun(const Command& words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    return word.find("torchrun ") != word.npos || word.find("torch.distributed.") != word.npos;
  });
}

bool is_rendezvous_variable(std::string_view name) {
  return name == "MASTER_ADDR" || name == "MASTER_PORT" || name == "RANK" || name == "WORLD_SIZE" ||
         name == "LOCAL_RANK";
}

}  // namespace ddlrun::job_scripts
