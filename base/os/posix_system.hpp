// SPDX-License-Identifier: MIT
// The real doors, on POSIX and Linux. main() makes them; tests make fakes.
#pragma once

#include "base/os/system.hpp"
#include "base/os/terminal.hpp"

#include <memory>
#include <string_view>

namespace ddlrun {

class PosixProcesses : public ProcessRunner {
 public:
  ProcessResult run(const Command& command, const ProcessLimits& limits) override;
  std::vector<ProcessResult> run_many(std::span<const Command> commands, const ProcessLimits& limits,
                                      unsigned window) override;
  void run_sessions(std::span<const ExpectSession> sessions, const ProcessLimits& limits,
                    const SessionWindow& window,
                    const std::function<void(std::size_t index, ProcessResult&& result)>& ended) override;
  std::vector<ProcessResult> run_functions(
      std::span<const std::pair<ChildFunction, std::chrono::milliseconds>> functions) override;
  ProcessResult run_guarded(const Command& command, const EnvVars& extra, const RunHooks& hooks) override;
  bool send_signal(std::uint64_t pid, std::uint64_t started_ticks, int signal) override;
};

class PosixFiles : public FileSystem {
 public:
  std::string read(const std::string& path, std::uint64_t max_bytes) override;
  void read_blocks(const std::string& path, const std::function<void(std::string_view block)>& sink) override;
  std::optional<FilePart> read_from(const std::string& path, std::uint64_t offset,
                                    std::uint64_t max_bytes) override;
  bool exists(const std::string& path) override;
  std::string foreign_owner(const std::string& directory) override;
  std::string foreign_writer(const std::string& file) override;
  void write(const std::string& path, std::string_view bytes) override;
  void rewrite(const std::string& path, std::string_view bytes) override;
  void append(const std::string& path, std::string_view bytes) override;
  void sync(const std::string& path) override;
  void remove(const std::string& path) override;
  std::string make_directory(const std::string& prefix) override;
  void make_directories(const std::string& path) override;
  bool make_new_directory(const std::string& path) override;
};

class SystemClock : public Clock {
 public:
  std::chrono::system_clock::time_point now() override { return std::chrono::system_clock::now(); }
  std::chrono::steady_clock::time_point steady() override { return std::chrono::steady_clock::now(); }
  int pause(std::chrono::milliseconds duration) override;
};

// By the control sequences of ECMA-48 and xterm that all terminals of today have; no terminfo.
class PosixTerminal : public Terminal {
 public:
  PosixTerminal();
  ~PosixTerminal() override;
  PosixTerminal(const PosixTerminal&) = delete;
  PosixTerminal& operator=(const PosixTerminal&) = delete;
  bool open() override;
  void close() noexcept override;
  TerminalSize size() override;
  void draw(const std::vector<std::string>& lines) override;
  TerminalEvent wait(std::chrono::milliseconds duration) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The printable ASCII characters of what a keyboard sent: no arrows, no keys with Alt, no UTF-8.
std::string find_plain_keys(std::string_view bytes);

// Reads the environment, names and terminals of this process once.
Environment read_environment();

// Writes all bytes to a descriptor; a closed pipe ends the process quietly as SIGPIPE would. Error{request}
// for a descriptor that cannot be written.
void write_all(int descriptor, std::string_view bytes);

// Writes to standard error and drops what it does not take: a full disk, a closed descriptor, a pipe without
// a reader or a terminal that is gone must end neither this process nor its job. Raises no SIGPIPE.
void write_diagnostics(std::string_view bytes) noexcept;

// For main(), first. Opens those of the descriptors 0 to 2 that are closed, so that no file opened later
// takes their numbers; reading such a stdin and writing such a stdout still fails, as with the closed
// descriptor. A write beyond the limit of file sizes (ulimit -f) fails with EFBIG and does not end the
// process. Programs that it starts get that signal as before.
void prepare_process() noexcept;

}  // namespace ddlrun
