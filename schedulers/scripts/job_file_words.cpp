// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_words.hpp"

#include "base/text/text.hpp"
#include "schedulers/scripts/lint_internal.hpp"
#include "schedulers/scripts/torch_start.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

std::string memory_text(std::uint64_t bytes) {
  constexpr std::pair<std::uint64_t, const char*> units[] = {
      {1ULL << 30, "GiB"}, {1ULL << 20, "MiB"}, {1ULL << 10, "KiB"}};
  for (const auto& [size, name] : units)
    if (bytes % size == 0) return fmt::format("{}{}", bytes / size, name);
  return fmt::format("{}KiB", bytes / 1024 + 1);
}

std::uint64_t memory_of_node(const ResourceRequest& request, const Chunk& chunk, std::uint64_t ranks) {
  if (chunk.memory > 0) return chunk.memory;
  const std::uint64_t cores = chunk.cores > 0 ? chunk.cores : ranks * chunk.threads;
  if (request.memory_per_core * cores > 0) return request.memory_per_core * cores;
  return request.job_memory / std::max<std::uint64_t>(1, node_count(request));
}

std::string constraint_of(const ResourceRequest& request, const Chunk& chunk) {
  std::string constraint = request.constraint;
  for (const auto& [name, value] : chunk.others)
    constraint += fmt::format("{}{}={}", constraint.empty() ? "" : ":", name, value);
  return constraint;
}

std::string hosts_of(const ResourceRequest& request) {
  if (!request.hosts.empty()) return request.hosts;
  std::vector<std::string> hosts;
  for (const Chunk& chunk : request.chunks)
    if (!chunk.host.empty()) hosts.push_back(chunk.host);
  return join(hosts, ",");
}

std::pair<std::string, std::string> split_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, ""};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

bool is_thread_variable(std::string_view name) {
  return name == "OMP_NUM_THREADS" || name == "OMP_PROC_BIND" || name == "OMP_PLACES" ||
         name == "KMP_AFFINITY" || name == "GOMP_CPU_AFFINITY" || name == "MKL_NUM_THREADS";
}

std::string explain_thread_variable(std::string_view name, std::uint64_t threads) {
  if (name == "OMP_NUM_THREADS")
    return threads > 0 ? fmt::format("ddlrun sets it for each rank: threads: {}", threads)
                       : "ddlrun sets it to the number of cores of each rank; the key threads sets another";
  if (name == "MKL_NUM_THREADS")
    return "left out: ddlrun sets it like OMP_NUM_THREADS if the program uses OpenMP";
  return fmt::format(
      "left out: ddlrun places the threads, with KMP_AFFINITY for Intel's and LLVM's OpenMP, else with "
      "OMP_PLACES and OMP_PROC_BIND, and not at all if the program uses no OpenMP; to keep yours: "
      "environment: [\"{}=...\"]",
      name);
}

bool fills_hosts(const ShellCommand& command) {
  if (has_word(command, "-bynode") || has_word(command, "--bynode") || has_word(command, "-rr")) return false;
  for (const char* option : {"--map-by", "-map-by", "--rank-by", "-rank-by"})
    if (const auto value = option_value(command, {option}); value && value->starts_with("node")) return false;
  for (const char* option : {"-ppn", "-perhost", "-rf", "-rankfile", "--rankfile"})
    if (const auto value = option_value(command, {option}); value && parse_unsigned(*value).value_or(1) == 1)
      return false;
  const auto order = option_value(command, {"--distribution", "-m"});
  return !order || command.base_name() != "srun" ||
         (!order->starts_with("cyclic") && !order->starts_with("arbitrary"));
}

std::string explain_left_out(std::string_view option) {
  const std::string_view name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  if (name == "prepend-rank" || name == "tag-output" || name == "l")
    return "left out: rank_output: prefix puts the rank before each line";
  if (name.starts_with("mca ")) {
    const auto words = split_blanks(name);
    if (words.size() == 3)
      return fmt::format("left out; the ranks read it from environment: [\"OMPI_MCA_{}={}\"]", words[1],
                         words[2]);
  }
  return "left out: a job file has no key for it; `environment` takes a variable that sets the same";
}

bool is_submit_directory(std::string_view word) {
  return word == "$PBS_O_WORKDIR" || word == "${PBS_O_WORKDIR}" || word == "$SLURM_SUBMIT_DIR" ||
         word == "${SLURM_SUBMIT_DIR}";
}

std::optional<std::vector<std::string>> modules_of(const ShellCommand& command) {
  const auto& words = command.words;
  const bool short_form = words[0].text == "ml";
  const std::string verb = words.size() > 1 ? words[1].text : "";
  std::vector<std::string> modules;
  if (!short_form && verb == "purge") return modules;  // the default
  const bool loads = verb == "load" || verb == "add";
  if (!loads && !(short_form && !verb.empty() && verb[0] != '-')) return std::nullopt;
  for (std::size_t i = loads ? 2 : 1; i < words.size(); ++i) modules.push_back(words[i].text);
  return modules;
}

bool purges_modules(const ShellCommand& command) { return has_word(command, "purge"); }

std::optional<std::pair<std::string, std::string>> python_environment_of(const ShellCommand& command) {
  const auto& words = command.words;
  const std::string name = command.name();
  if (words.size() < 2) return std::nullopt;
  const std::string& file = words[1].text;
  const bool activates = name == "conda" || name == "source" || name == ".";
  if (activates && file == "activate" && words.size() == 3) return std::pair{"conda", words[2].text};
  constexpr std::string_view activate = "/bin/activate";
  // "~" is not replaced in a job file; a third word is conda's own form, with an environment's name.
  const bool is_venv = file.ends_with(activate) && file.starts_with('/') && words.size() != 3;
  if (name == "conda" || !activates || !is_venv) return std::nullopt;
  return std::pair{"venv", file.substr(0, file.size() - activate.size())};
}

std::vector<std::pair<std::string, std::string>> exports_of_launcher(const ScriptLine& line,
                                                                     const ShellCommand& command,
                                                                     std::size_t end) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto& words = command.words;
  const auto typed = [&](const ShellWord& word) { return line.text.substr(word.at, word.end - word.at); };
  for (std::size_t i = 1; i + 1 < std::min(end, words.size()); ++i) {
    const std::string& option = words[i].text;
    if (option == "-x") {
      ++i;
      found.emplace_back(words[i].text, typed(words[i]));
    } else if (option != "-genv" && option != "-env") {
      continue;
    } else if (words[i + 1].text.find('=') != std::string::npos) {  // of one word, as hydra takes it too
      ++i;
      found.emplace_back(words[i].text, typed(words[i]));
    } else if (i + 2 < words.size()) {
      found.emplace_back(words[i + 1].text + "=" + words[i + 2].text,
                         words[i + 1].text + "=" + typed(words[i + 2]));
      i += 2;
    }
  }
  return found;
}

bool starts_ranks(const JobScript& script, const UnwrapLauncher& unwrap) {
  const auto is_launcher = [&](const ShellCommand& command) {
    const auto program = unwrap(command.texts());
    return program && !program->empty();
  };
  return std::ranges::any_of(script.body, [&](const ScriptLine& line) {
    return mentions_torchrun({line.text}) ||
           (!line.here_text && std::ranges::any_of(parse_commands(line), is_launcher));
  });
}

}  // namespace ddlrun::job_scripts
