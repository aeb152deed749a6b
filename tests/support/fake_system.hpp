// SPDX-License-Identifier: MIT
// Interfaces that record each call and answer from tables: no process, file or clock is touched.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::tests {

struct FakeProcesses : ProcessRunner {
  std::vector<Command> ran;
  std::function<ProcessResult(const Command&)> answer = [](const Command&) { return ProcessResult{}; };

  ProcessResult run(const Command& command, const ProcessLimits&) override {
    ran.push_back(command);
    return answer(command);
  }
  std::vector<ProcessResult> run_many(std::span<const Command> commands, const ProcessLimits& limits,
                                      unsigned) override {
    std::vector<ProcessResult> results;
    for (const Command& command : commands) results.push_back(run(command, limits));
    return results;
  }
  void run_sessions(std::span<const ExpectSession> sessions, const ProcessLimits& limits,
                    const SessionWindow&,
                    const std::function<void(std::size_t, ProcessResult&&)>& ended) override {
    for (std::size_t i = 0; i < sessions.size(); ++i) ended(i, run(sessions[i].command, limits));
  }
  std::vector<ProcessResult> run_functions(
      std::span<const std::pair<ChildFunction, std::chrono::milliseconds>> functions) override {
    std::vector<ProcessResult> results;
    for (const auto& [function, limit] : functions) results.emplace_back().out = function();
    return results;
  }
  ProcessResult run_guarded(const Command& command, const EnvVars&, const RunHooks&) override {
    return run(command, {});
  }
  std::vector<std::string> signals;  // "TERM to 812, started 7" as numbers: "15 812 7"
  bool send_signal(std::uint64_t pid, std::uint64_t started_ticks, int signal) override {
    signals.push_back(std::to_string(signal) + " " + std::to_string(pid) + " " +
                      std::to_string(started_ticks));
    return true;
  }
};

struct FakeFiles : FileSystem {
  std::map<std::string, std::string> files;
  std::vector<std::string> written;
  std::set<std::string> directories;  // made by make_new_directory
  std::set<std::string> synced;
  std::map<std::string, int> rewritten;  // how often

  std::string read(const std::string& path, std::uint64_t) override {
    const auto found = files.find(path);
    if (found == files.end()) {
      throw Error(ErrorKind::request,
                  {"cannot read " + path + ": No such file or directory", path, "ls -l " + path});
    }
    return found->second;
  }
  // In portions of 7 bytes, so that nothing relies on where a portion ends.
  void read_blocks(const std::string& path,
                   const std::function<void(std::string_view block)>& sink) override {
    const std::string bytes = read(path, UINT64_MAX);
    for (std::size_t at = 0; at < bytes.size(); at += 7) sink(std::string_view(bytes).substr(at, 7));
  }
  std::optional<FilePart> read_from(const std::string& path, std::uint64_t offset,
                                    std::uint64_t max_bytes) override {
    const auto found = files.find(path);
    if (found == files.end()) return std::nullopt;
    const std::string& bytes = found->second;
    return FilePart{offset < bytes.size() ? bytes.substr(offset, max_bytes) : std::string(), bytes.size()};
  }
  bool exists(const std::string& path) override {
    return files.count(path) > 0 || directories.count(path) > 0;
  }
  std::map<std::string, std::string> foreign;  // directory or file -> why it is not safe
  std::string foreign_owner(const std::string& directory) override {
    const auto found = foreign.find(directory);
    return found == foreign.end() ? std::string() : found->second;
  }
  std::string foreign_writer(const std::string& file) override { return foreign_owner(file); }
  void write(const std::string& path, std::string_view bytes) override {
    files[path] = bytes;
    written.push_back(path);
  }
  void rewrite(const std::string& path, std::string_view bytes) override {
    files[path] = bytes;
    ++rewritten[path];
  }
  void append(const std::string& path, std::string_view bytes) override { files[path] += bytes; }
  void sync(const std::string& path) override { synced.insert(path); }
  void remove(const std::string& path) override { files.erase(path); }
  std::string make_directory(const std::string& prefix) override { return prefix + "000000"; }
  void make_directories(const std::string&) override {}
  bool make_new_directory(const std::string& path) override { return directories.insert(path).second; }
};

struct FakeClock : Clock {
  std::chrono::system_clock::time_point time{};
  std::chrono::steady_clock::time_point passed{std::chrono::hours(1)};
  std::function<int(std::chrono::milliseconds)> on_pause = [](std::chrono::milliseconds) { return 0; };
  std::chrono::system_clock::time_point now() override { return time; }
  std::chrono::steady_clock::time_point steady() override { return passed; }
  int pause(std::chrono::milliseconds duration) override {
    time += duration;
    passed += duration;
    return on_pause(duration);
  }
};

// All of it, with what was printed.
struct FakeSystem {
  FakeProcesses processes;
  FakeFiles files;
  FakeClock clock;
  Environment environment;
  std::string out, err;

  FakeSystem() {
    environment.host_name = "here";
    environment.own_names = {"here", "localhost", "127.0.0.1"};
    environment.executable = "/opt/ddlrun/bin/ddlrun";
  }
  System interfaces() {
    return {processes,
            files,
            clock,
            environment,
            [this](std::string_view text) { out += text; },
            [this](std::string_view text) { err += text; }};
  }
};

}  // namespace ddlrun::tests
