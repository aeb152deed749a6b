// SPDX-License-Identifier: MIT
#include "launch/monitor/stall_text.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

std::string process(const Stall& stall) {
  return fmt::format("process {} ({})", stall.pid, stall.name.empty() ? "?" : stall.name);
}

std::string in_kernel(const Stall& stall) {
  return stall.waits_in.empty() ? std::string() : fmt::format(" in {}", stall.waits_in);
}

// What to type to have it done on `host`.
std::string on(const std::string& host, bool here, const std::string& command) {
  return here ? command : "ssh " + host + " " + command;
}

// What shows where a process is in its program.
std::string look_into(const IdleRanks& ranks, bool here) {
  const Stall& stall = ranks.stall;
  const bool is_python = stall.name.starts_with("python");
  return fmt::format("{}{}{} {}   # if it should be ", here ? "" : "ssh -t " + ranks.host + " ",
                     here && is_python && ranks.lacks_py_spy ? "pip install py-spy && " : "",
                     is_python ? "py-spy dump --pid" : "gdb -p", stall.pid);
}

// "ranks 0-3 have", "rank 3 on h2 printed E and has not ended; it has": the subject of what follows.
std::string who_of(const IdleRanks& ranks) {
  return ranks.exception.empty() ? ranks.who
                                 : fmt::format("rank {} on {} printed {} and has not ended; it has",
                                               ranks.rank, ranks.host, ranks.exception);
}

std::string remedy_of(const IdleRanks& ranks, bool here, const std::string& expected) {
  return ranks.remedy.empty() ? look_into(ranks, here) + expected : ranks.remedy;
}

std::string place_of(const IdleRanks& ranks) {
  return ranks.is_alone ? "" : fmt::format(" of rank {} on {}", ranks.rank, ranks.host);
}

}  // namespace

bool spins(const Stall& stall) { return stall.state == 'R'; }

bool is_stuck(const Stall& stall) { return stall.state == 'T' || stall.state == 't' || stall.state == 'D'; }

Message describe_stuck(std::uint32_t rank, const std::string& host, const Stall& stall, bool here) {
  const std::string start = fmt::format("rank {} on {} has made no progress for {} s: {}", rank, host,
                                        stall.seconds, process(stall));
  switch (stall.state) {
    case 'T':
      return {start + " is stopped (SIGSTOP)", host, on(host, here, fmt::format("kill -CONT {}", stall.pid))};
    case 't':
      return {start + " is held by a debugger or tracer", host,
              on(host, here, fmt::format("grep TracerPid /proc/{}/status", stall.pid))};
    default:
      return {start + " waits for a disk or a network file system" + in_kernel(stall), host,
              on(host, here, "df") + "   # a file system that hangs, hangs df too"};
  }
}

Message describe_idle(const IdleRanks& idle, bool here) {
  const Stall& stall = idle.stall;
  const std::string state = fmt::format("{} moved no bytes for {} s",
                                        spins(stall) ? "" : " used almost no CPU time and", stall.seconds);
  const std::string does = spins(stall) ? " waits at full speed in " + stall.waits_in
                           : stall.state == 'P'
                               ? " looks again and again for something, and sleeps" + in_kernel(stall)
                               : " sleeps" + in_kernel(stall);
  const std::string what =
      fmt::format("{}{}{}: {}{}{}{}", who_of(idle), state, idle.others.empty() ? "" : ", " + idle.others,
                  process(stall), place_of(idle), does, idle.waiters.empty() ? "" : "; " + idle.waiters);
  return {what, idle.host, remedy_of(idle, here, "working")};
}

Message describe_computing(const IdleRanks& ranks, bool here) {
  const Stall& stall = ranks.stall;
  return {fmt::format("{} used CPU time and moved no bytes for {} s, {} {}: {}{} runs {}", who_of(ranks),
                      stall.seconds, ranks.others, ranks.waiters, process(stall), place_of(ranks),
                      stall.waits_in),
          ranks.host, remedy_of(ranks, here, "done")};
}

bool sleeps_of_own_will(const Stall& stall) {
  return stall.state == 'S' && stall.waits_in.find("nanosleep") != std::string::npos;
}

std::vector<std::uint32_t> find_awaited(const std::map<std::uint32_t, Stall>& idle) {
  std::vector<std::uint32_t> sleepers, others_than_spinners;
  std::map<std::string, std::vector<std::uint32_t>> by_place;
  for (const auto& [rank, stall] : idle) {
    // Who waits for a message or a lock sleeps in poll, futex and the like; who looks for it now and then,
    // polls.
    if (sleeps_of_own_will(stall)) sleepers.push_back(rank);
    if (!spins(stall)) others_than_spinners.push_back(rank);
    by_place[spins(stall) ? "R" : stall.waits_in + stall.state].push_back(rank);
  }
  for (const auto& ranks : {sleepers, others_than_spinners})
    if (!ranks.empty() && 2 * ranks.size() <= idle.size() && ranks.size() < idle.size()) return ranks;
  if (idle.size() > 2 && by_place.size() == 2) {
    for (const auto& [place, ranks] : by_place)
      if (ranks.size() == 1) return ranks;
  }
  return {};
}

}  // namespace ddlrun::launch
