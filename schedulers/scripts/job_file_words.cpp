// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::job_scripts {

std::string memory_text(std::uint64_t bytes) {
  constexpr std::pair<std::uint64_t, const char*> units[] = {
      {1ULL << 30, "GiB"}, {1ULL << 20, "MiB"}, {1ULL << 10, "KiB"}};
  for (const auto& [size, name] : units)
    if (bytes % size == 0) return fmt::format("{}{}", bytes / size, name);
  return fmt::format("{}KiB", bytes / 1024 + 1);
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

bool is_submit_directory(std::string_view word) {
  return word == "$PBS_O_WORKDIR" || word == "${PBS_O_WORKDIR}" || word == "$SLURM_SUBMIT_DIR" ||
         word == "${SLURM_SUBMIT_DIR}";
}

int change_of_depth(const ShellCommand& command) {
  int change = 0;
  for (const std::string& word : command.keywords) {
    if (word == "if" || word == "for" || word == "while" || word == "until" || word == "case" || word == "{")
      ++change;
  }
  const std::string name = command.name();
  if (name == "fi" || name == "done" || name == "esac" || name == "}") --change;
  return change;
}

bool only_prints(const std::vector<ShellCommand>& commands) {
  constexpr std::array<std::string_view, 3> harmless{"echo", "date", "hostname"};
  return std::ranges::all_of(commands, [&](const ShellCommand& command) {
    return command.redirections.empty() && std::ranges::find(harmless, command.name()) != harmless.end();
  });
}

}  // namespace ddlrun::job_scripts
