// SPDX-License-Identifier: MIT
#include "base/os/tracing_system.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun {

ProcessResult TracingProcesses::run(const Command& command, const ProcessLimits& limits) {
  trace_(fmt::format("+ {}\n", render_shell(command)));
  return inner_.run(command, limits);
}

std::vector<ProcessResult> TracingProcesses::run_many(std::span<const Command> commands,
                                                      const ProcessLimits& limits, unsigned window) {
  for (const Command& command : commands) trace_(fmt::format("+ {} &\n", render_shell(command)));
  return inner_.run_many(commands, limits, window);
}

void TracingProcesses::run_sessions(std::span<const ExpectSession> sessions, const ProcessLimits& limits,
                                    const SessionWindow& window,
                                    const std::function<void(std::size_t, ProcessResult&&)>& ended) {
  for (const ExpectSession& session : sessions) {
    trace_("+ " + render_shell(session.command) + "\n");
  }
  inner_.run_sessions(sessions, limits, window, ended);
}

ProcessResult TracingProcesses::run_guarded(const Command& command, const EnvVars& extra,
                                            const RunHooks& hooks) {
  Command shown;
  if (!extra.empty()) shown.push_back("env");
  for (const auto& [name, value] : extra) shown.push_back(name + "=...");  // values may be secrets
  shown.insert(shown.end(), command.begin(), command.end());
  trace_(fmt::format("+ {}\n", render_shell(shown)));
  return inner_.run_guarded(command, extra, hooks);
}

bool TracingProcesses::send_signal(std::uint64_t pid, std::uint64_t started_ticks, int signal) {
  trace_(fmt::format("+ kill -{} {}\n", signal, pid));
  return inner_.send_signal(pid, started_ticks, signal);
}

std::string TracingFiles::read(const std::string& path, std::uint64_t max_bytes) {
  trace_(fmt::format("+ cat {}\n", quote_shell(path)));
  return inner_.read(path, max_bytes);
}

void TracingFiles::read_blocks(const std::string& path,
                               const std::function<void(std::string_view block)>& sink) {
  trace_(fmt::format("+ cat {}\n", quote_shell(path)));
  inner_.read_blocks(path, sink);
}

void TracingFiles::write(const std::string& path, std::string_view bytes) {
  trace_(fmt::format("# writes {} ({} bytes)\n", quote_shell(path), bytes.size()));
  inner_.write(path, bytes);
}

void TracingFiles::sync(const std::string& path) {
  trace_(fmt::format("# has appended to {}\n", quote_shell(path)));
  inner_.sync(path);
}

void TracingFiles::remove(const std::string& path) {
  trace_(fmt::format("+ rm -f -- {}\n", quote_shell(path)));
  inner_.remove(path);
}

std::string TracingFiles::make_directory(const std::string& prefix) {
  trace_(fmt::format("# makes the directory {}XXXXXX\n", quote_shell(prefix)));
  return inner_.make_directory(prefix);
}

void TracingFiles::make_directories(const std::string& path) {
  trace_(fmt::format("+ mkdir -p {}\n", quote_shell(path)));
  inner_.make_directories(path);
}

bool TracingFiles::make_new_directory(const std::string& path) {
  trace_(fmt::format("+ mkdir {}\n", quote_shell(path)));
  return inner_.make_new_directory(path);
}

}  // namespace ddlrun
