// SPDX-License-Identifier: MIT
// run.json read back. Fields that an older ddlrun did not write are empty. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::run_report {

constexpr std::uint64_t max_run_json_bytes = 512u << 20;

struct RunEndTold {
  std::string time;
  int exit_status = 0;
  int signal = 0;
};

struct RunFailure {
  std::uint32_t rank = 0;
  std::string host;
  int exit_status = 0;
  int signal = 0;
};

struct RunStall {
  std::uint32_t rank = 0;
  std::string host, state, process;
  int seconds = 0;
};

struct RunRank {
  std::uint32_t rank = 0, local_rank = 0;
  std::string host, slot, planned_pus;
  std::optional<int> exit_status;
  std::string found_host, found_pus;
  std::string verdict;  // ok, differs, silent; "" if not verified
  std::string why;
};

struct RunDocument {
  std::string id, start;      // "2026-11-21T03:19:14Z"
  std::int64_t start_us = 0;  // since 1970, for the order of runs that begin in one second; 0: unknown
  std::optional<RunEndTold> end;
  std::string host, working_folder, dims;
  std::vector<std::string> program;
  std::uint64_t rank_count = 0;
  std::vector<std::string> exported;
  std::string launcher, mpirun, ddlrun_version, mpirun_version, kernel;
  bool watched = false, verified = false;
  std::optional<RunFailure> first_failure;
  std::vector<RunStall> stalls;
  std::vector<std::string> silent_hosts, lost_hosts;
  // Since ddlrun 0.2.
  std::uint64_t pid = 0, started_ticks = 0;
  std::string boot;
  bool is_typed = false;
  std::vector<std::string> captured_arguments, typed_program;
  std::string replay_of, restart_of, result, output, network, diagnosis;
  std::vector<std::string> remarks, findings, last_lines;
  std::vector<std::pair<std::string, std::string>> reasons;  // subject, why
  std::map<std::string, std::string> digests;
  std::vector<std::string> hosts;
  std::vector<std::uint32_t> machine_of_host;
  std::vector<RunRank> ranks;
};

// Error{request} that names `where` for what is no JSON, of another schema, or holds a wrong type. With
// `with_ranks` false the ranks are left out, which is quick where there are many.
RunDocument parse_run_json(std::string_view text, const std::string& where, bool with_ranks = true);

// The index in a machine's GPUs of each rank, from plan.json; of as many ranks as it holds.
std::map<std::uint32_t, int> parse_plan_gpus(std::string_view text, const std::string& where);

// Seconds since 1970 of "2026-11-21T03:19:14Z"; nothing for any other form.
std::optional<std::int64_t> parse_run_time(std::string_view text);

}  // namespace ddlrun::run_report
