// SPDX-License-Identifier: MIT
#include "base/traced_doors.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace ddlrun {

ProcessResult TracedProcesses::run(const Command& command, const ProcessLimits& limits) {
  trace_(fmt::format("+ {}\n", render_shell(command)));
  return inner_.run(command, limits);
}

std::vector<ProcessResult> TracedProcesses::run_many(std::span<const Command> commands,
                                                     const ProcessLimits& limits, unsigned window) {
  for (const Command& command : commands) trace_(fmt::format("+ {} &\n", render_shell(command)));
  return inner_.run_many(commands, limits, window);
}

ProcessResult TracedProcesses::run_attached(const Command& command, const EnvVars& extra,
                                            const LineSink& err_lines) {
  Command shown;
  if (!extra.empty()) shown.push_back("env");
  for (const auto& [name, value] : extra) shown.push_back(name + "=...");  // values may be secrets
  shown.insert(shown.end(), command.begin(), command.end());
  trace_(fmt::format("+ {}\n", render_shell(shown)));
  return inner_.run_attached(command, extra, err_lines);
}

std::string TracedFiles::read(const std::string& path, std::uint64_t max_bytes) {
  trace_(fmt::format("+ cat {}\n", quote_shell(path)));
  return inner_.read(path, max_bytes);
}

void TracedFiles::write(const std::string& path, std::string_view bytes) {
  trace_(fmt::format("# writes {} ({} bytes)\n", quote_shell(path), bytes.size()));
  inner_.write(path, bytes);
}

std::string TracedFiles::make_folder(const std::string& prefix) {
  trace_(fmt::format("# makes the folder {}XXXXXX\n", quote_shell(prefix)));
  return inner_.make_folder(prefix);
}

void TracedFiles::make_folders(const std::string& path) {
  trace_(fmt::format("+ mkdir -p {}\n", quote_shell(path)));
  inner_.make_folders(path);
}

}  // namespace ddlrun
