// SPDX-License-Identifier: MIT
// OS interfaces that print each call as a line to paste ("+ ssh h2 ...") and forward it: -v.
#pragma once

#include "base/os/system.hpp"

#include <functional>

namespace ddlrun {

using Trace = std::function<void(std::string_view line)>;

class TracingProcesses : public ProcessRunner {
 public:
  TracingProcesses(ProcessRunner& inner, Trace trace) : inner_(inner), trace_(std::move(trace)) {}
  ProcessResult run(const Command& command, const ProcessLimits& limits) override;
  std::vector<ProcessResult> run_many(std::span<const Command> commands, const ProcessLimits& limits,
                                      unsigned window) override;
  void run_sessions(std::span<const ExpectSession> sessions, const ProcessLimits& limits,
                    const SessionWindow& window,
                    const std::function<void(std::size_t index, ProcessResult&& result)>& ended) override;
  std::vector<ProcessResult> run_functions(
      std::span<const std::pair<ChildFunction, std::chrono::milliseconds>> functions) override {
    return inner_.run_functions(functions);
  }
  ProcessResult run_guarded(const Command& command, const EnvVars& extra, const RunHooks& hooks) override;
  bool send_signal(std::uint64_t pid, std::uint64_t started_ticks, int signal) override;

 private:
  ProcessRunner& inner_;
  Trace trace_;
};

class TracingFiles : public FileSystem {
 public:
  TracingFiles(FileSystem& inner, Trace trace) : inner_(inner), trace_(std::move(trace)) {}
  std::string read(const std::string& path, std::uint64_t max_bytes) override;
  void read_blocks(const std::string& path, const std::function<void(std::string_view block)>& sink) override;
  // Not printed: a followed log is read every second.
  std::optional<FilePart> read_from(const std::string& path, std::uint64_t offset,
                                    std::uint64_t max_bytes) override {
    return inner_.read_from(path, offset, max_bytes);
  }
  bool exists(const std::string& path) override { return inner_.exists(path); }
  std::string foreign_owner(const std::string& directory) override { return inner_.foreign_owner(directory); }
  std::string foreign_writer(const std::string& file) override { return inner_.foreign_writer(file); }
  void write(const std::string& path, std::string_view bytes) override;
  // Not printed either: a log grows all the time. Its end is.
  void append(const std::string& path, std::string_view bytes) override { inner_.append(path, bytes); }
  void rewrite(const std::string& path, std::string_view bytes) override { inner_.rewrite(path, bytes); }
  void sync(const std::string& path) override;
  void remove(const std::string& path) override;
  std::string make_directory(const std::string& prefix) override;
  void make_directories(const std::string& path) override;
  bool make_new_directory(const std::string& path) override;

 private:
  FileSystem& inner_;
  Trace trace_;
};

}  // namespace ddlrun
