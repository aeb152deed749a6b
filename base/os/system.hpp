// SPDX-License-Identifier: MIT
// The doors to the world: processes, files, clock, environment. Everything outside base/ that has an effect
// goes through one of these, so that a trace, a dry run and a test are other implementations, not flags.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

class HostInfo;
class Terminal;

using Command = std::vector<std::string>;  // argv, never a shell line
using EnvVars = std::map<std::string, std::string>;

// Limits of one child; 0 means no limit of our own.
struct ProcessLimits {
  std::chrono::milliseconds timeout{0};    // wall clock; then TERM, then KILL to its group, then it is left
  std::uint64_t memory_bytes = 0;          // RLIMIT_AS
  unsigned cpu_seconds = 0;                // RLIMIT_CPU
  std::uint64_t output_bytes = 64u << 20;  // per stream; what comes after is dropped and `truncated` set
  std::chrono::milliseconds silence{0};    // as `timeout`, from the last byte on a stream; run_sessions only
};

// A reply that was given in a conversation: after how long, and by the wall clock.
struct ExchangeTime {
  std::string after;
  std::chrono::milliseconds since_start{0};
  std::chrono::system_clock::time_point at;
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
  bool guard_was_killed = false;         // run_guarded: and so the child was ended, or did not start
  int forwarded_signal = 0;              // run_guarded: the last signal sent to us meanwhile, or 0
  std::chrono::milliseconds elapsed{0};  // of a captured child: from start to end
  std::vector<ExchangeTime> replied;     // run_sessions: when each reply was given, in order

  bool ok() const { return exit_status == 0 && start_error.empty() && !timed_out; }
};

// Called for each line of a child's stderr, with its newline; also for what still lacks one after 100 ms.
using LineSink = std::function<void(std::string_view line)>;

// A guarded child, as seen from outside.
struct ChildView {
  std::vector<std::string> below;              // names of the processes that the child itself has started
  std::optional<std::uint64_t> bytes_written;  // by the child, to all files and pipes
  bool stdout_full = false;  // our stdout, which the child writes to, takes nothing more now
  bool stopped = false;      // by a signal, or a debugger
};

// What is done while a guarded child runs.
struct RunHooks {
  LineSink on_stderr_line;                 // as above; may be empty
  std::function<void()> after_lines = {};  // when all lines that were there have been given; may be empty
  // About twice a second; returns a signal for the child, or 0. May be empty.
  std::function<int(const ChildView& child)> tick;
  // What the child gets in the place of a signal that was sent to us, or 0. Of one that the terminal sent to
  // the child as well (`delivered`) only the news. May be empty: the same one.
  std::function<int(int signal, bool delivered)> on_signal = {};
  // When the child, by its number, and all that it started have ended; in the guardian. May be empty.
  std::function<void(int child)> after_all = {};
};

// A child that is spoken to: once its stdout holds the whole line `after`, it is given `input` on stdin.
struct Exchange {
  std::string after;
  std::shared_ptr<const std::string> input;
  bool then_close = true;  // its stdin
};

struct ExpectSession {
  Command command;
  std::string target;             // at most `per_target` at once to the same one
  std::vector<Exchange> replies;  // each is given at most once; in any order
};

struct SessionWindow {
  unsigned total = 32;
  unsigned per_target = 8;
  std::function<bool()> enough = {};  // true: no other session is started
};

// A function whose result is text, run in a child process of its own.
using ChildFunction = std::function<std::string()>;

class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  // Runs to the end with both streams captured; stdin is empty.
  virtual ProcessResult run(const Command& command, const ProcessLimits& limits) = 0;
  // The same for many commands, at most `window` at once; results in the order of the commands.
  virtual std::vector<ProcessResult> run_many(std::span<const Command> commands, const ProcessLimits& limits,
                                              unsigned window) = 0;
  // Holds many sessions in a sliding window; `ended` is called for each as it ends, in any order.
  virtual void run_sessions(std::span<const ExpectSession> sessions, const ProcessLimits& limits,
                            const SessionWindow& window,
                            const std::function<void(std::size_t index, ProcessResult&& result)>& ended) = 0;
  // Runs each function in a forked child with its own wall-clock limit, all at once; its text comes back as
  // `out`. A crash, an exception or a hang costs that one result.
  virtual std::vector<ProcessResult> run_functions(
      std::span<const std::pair<ChildFunction, std::chrono::milliseconds>> functions) = 0;
  // Runs in the foreground: the child has our stdin and stdout, signals sent to us are passed on. stderr is
  // ours too, unless `hooks` takes its lines. `extra` is added to our environment. Returns how it ended;
  // out and err stay empty. Nothing that the child started outlives it or us: a guardian process ends what is
  // left, with TERM and 2 s later KILL. The child itself is killed at once if we are: mpirun takes too long
  // to end a job.
  virtual ProcessResult run_guarded(const Command& command, const EnvVars& extra, const RunHooks& hooks) = 0;
  // Sends the signal to the process `pid` that started at `started_ticks` (/proc/PID/stat). False where it no
  // longer runs, or belongs to another user.
  virtual bool send_signal(std::uint64_t pid, std::uint64_t started_ticks, int signal) = 0;
};

// A part of a file that may still grow.
struct FilePart {
  std::string bytes;
  std::uint64_t size = 0;  // of the file: less than was asked from, if it was cut off or is another one
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // The file's bytes; Error{request} if it cannot be read or is larger than `max_bytes`.
  virtual std::string read(const std::string& path, std::uint64_t max_bytes) = 0;
  // The file's bytes in portions of at most 256 KiB, however large it is; "-" is stdin. Error{request} if it
  // cannot be read.
  virtual void read_blocks(const std::string& path,
                           const std::function<void(std::string_view block)>& sink) = 0;
  // What stands behind `offset`, at most `max_bytes` of it; nothing where there is no such file (yet).
  // Error{request} if it cannot be read.
  virtual std::optional<FilePart> read_from(const std::string& path, std::uint64_t offset,
                                            std::uint64_t max_bytes) = 0;
  virtual bool exists(const std::string& path) = 0;
  // "" for a directory that no other user can change nor exchange (path_owner.hpp); else why not: "it belongs
  // to user 1004", "every user can write to /scratch". A missing one is judged by the directories above it.
  virtual std::string foreign_owner(const std::string& directory) = 0;
  // "" for a file that only this user, root and the owner of this ddlrun can change (path_owner.hpp); else
  // why not.
  virtual std::string foreign_writer(const std::string& file) = 0;
  // Written beside, fsynced, renamed: the old file or the new one, never a half.
  virtual void write(const std::string& path, std::string_view bytes) = 0;
  // Written beside (PATH.new, mode 600) and renamed, but not fsynced: for a file that is soon written again.
  virtual void rewrite(const std::string& path, std::string_view bytes) = 0;
  // Behind what the file holds; a new one gets mode 600. Written at once, not yet safe from a crash.
  virtual void append(const std::string& path, std::string_view bytes) = 0;
  // What was appended survives a crash from here on; no error where there is no such file.
  virtual void sync(const std::string& path) = 0;
  // One file or empty directory; no error where there is none.
  virtual void remove(const std::string& path) = 0;
  // A new private directory (mode 700) whose name begins with `prefix`; returns its path.
  virtual std::string make_directory(const std::string& prefix) = 0;
  // With all that is missing above it; a new one gets mode 700.
  virtual void make_directories(const std::string& path) = 0;
  // Mode 700; false where the name is taken, also by somebody who was faster.
  virtual bool make_new_directory(const std::string& path) = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::system_clock::time_point now() = 0;
  // For intervals: it does not jump when the clock of the machine is set.
  virtual std::chrono::steady_clock::time_point steady() = 0;
  // Lets time pass. From the first call on INT, TERM and HUP no longer end this process: returns the
  // one that came (at once, also if it came between two calls), or 0.
  virtual int pause(std::chrono::milliseconds duration) = 0;
};

// This process and machine as they were at start; a plain value.
struct Environment {
  EnvVars variables;
  std::string host_name;               // gethostname()
  std::vector<std::string> own_names;  // host name, short name, localhost, addresses of our interfaces
  std::string executable;              // absolute path of the running binary
  bool executable_is_shared = false;   // below /tmp or the like: on another host it may be another user's
  std::string workdir;                 // with the links of $PWD; "" where it no longer exists
  bool is_root = false;
  bool stdin_is_terminal = false;
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;

  // The variable's value, or "" where it is not set.
  std::string get(const std::string& name) const {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  }
  // Whether colours are wanted on a stream that is `terminal`: https://no-color.org.
  bool wants_colour(bool terminal) const {
    return terminal && get("NO_COLOR").empty() && get("TERM") != "dumb";
  }
  // The path as others find it, from the working directory; "" and "." are that directory.
  std::string absolute(const std::string& path) const {
    if (path.empty() || path == ".") return workdir;
    return path[0] == '/' ? path : workdir + "/" + path;
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
  std::function<void(std::string_view)> program_err = {};  // pass(); empty: err
  HostInfo* kernel = nullptr;                              // limits, disks, names, interfaces of this host
  Terminal* terminal = nullptr;                            // the whole screen, where stdout is one
  std::function<void(std::string_view)> shown_err = {};    // show(); empty: err

  // A program's stderr, unchanged: no colours, and -q does not hide it.
  void pass(std::string_view text) const { (program_err ? program_err : err)(text); }
  // A message that -q does not hide: how a run or job failed, and why.
  void show(std::string_view message) const { (shown_err ? shown_err : err)(message); }
};

}  // namespace ddlrun
