// SPDX-License-Identifier: MIT
// The doors to the world: processes, files, clock, environment. Everything outside base/ that has an effect
// goes through one of these, so that a trace, a dry run and a test are other implementations, not flags.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

using Command = std::vector<std::string>;  // argv, never a shell line
using EnvVars = std::map<std::string, std::string>;

// Limits of one child; 0 means no limit of our own.
struct ProcessLimits {
  std::chrono::milliseconds timeout{0};    // wall clock; then TERM, then KILL to its process group
  std::uint64_t memory_bytes = 0;          // RLIMIT_AS
  unsigned cpu_seconds = 0;                // RLIMIT_CPU
  std::uint64_t output_bytes = 64u << 20;  // per stream; what comes after is dropped and `truncated` set
};

// How a child ended. Exactly one of the cases holds; a child that could not be started has `start_error`.
struct ProcessResult {
  int exit_status = 0;  // as a shell would report it: code, or 128 + signal
  int signal = 0;       // the signal that ended it, or 0
  bool timed_out = false;
  bool truncated = false;
  std::string start_error;  // why it could not be started ("No such file or directory"), else empty
  std::string out;
  std::string err;
  int passed_on = 0;  // run_attached: the last signal sent to us meanwhile, or 0

  bool ok() const { return exit_status == 0 && start_error.empty() && !timed_out; }
};

// Called for each line of a child's stderr, with its newline; also for what still lacks one after 100 ms.
using LineSink = std::function<void(std::string_view line)>;

class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  // Runs to the end with both streams captured; stdin is empty.
  virtual ProcessResult run(const Command& command, const ProcessLimits& limits) = 0;
  // The same for many commands, at most `window` at once; results in the order of the commands.
  virtual std::vector<ProcessResult> run_many(std::span<const Command> commands, const ProcessLimits& limits,
                                              unsigned window) = 0;
  // Runs in the foreground: the child has our stdin and stdout, signals sent to us are passed on, and the
  // child gets SIGTERM if we die. stderr is ours too, unless `err_lines` is given. `extra` is added to our
  // environment. Returns how it ended; out and err stay empty.
  virtual ProcessResult run_attached(const Command& command, const EnvVars& extra,
                                     const LineSink& err_lines) = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // The file's bytes; Error{request} if it cannot be read or is larger than `max_bytes`.
  virtual std::string read(const std::string& path, std::uint64_t max_bytes) = 0;
  virtual bool exists(const std::string& path) = 0;
  // Written beside, fsynced, renamed: the old file or the new one, never a half.
  virtual void write(const std::string& path, std::string_view bytes) = 0;
  // A new private folder (mode 700) whose name begins with `prefix`; returns its path.
  virtual std::string make_folder(const std::string& prefix) = 0;
  // With all that is missing above it; a new one gets mode 700.
  virtual void make_folders(const std::string& path) = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::system_clock::time_point now() = 0;
};

// This process and machine as they were at start; a plain value.
struct Environment {
  EnvVars variables;
  std::string host_name;               // gethostname()
  std::vector<std::string> own_names;  // host name, short name, localhost, addresses of our interfaces
  std::string executable;              // absolute path of the running binary
  std::string working_folder;
  bool is_root = false;
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;

  // The variable's value, or "" where it is not set.
  std::string get(const std::string& name) const {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  }
};

// What a command gets: all doors at once, and its two output streams.
struct System {
  ProcessRunner& processes;
  FileSystem& files;
  Clock& clock;
  const Environment& environment;
  std::function<void(std::string_view)> out;               // stdout: the product only
  std::function<void(std::string_view)> err;               // stderr: the talk
  std::function<void(std::string_view)> program_err = {};  // a program's stderr passing through; -q leaves it
};

}  // namespace ddlrun
