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

Message describe_idle(std::uint32_t rank, const std::string& host, const Stall& stall,
                      const std::string& others, bool here) {
  const std::string what =
      spins(stall)
          ? fmt::format("rank {} on {} has moved no bytes for {} s, {}: {} waits at full speed in {}", rank,
                        host, stall.seconds, others, process(stall), stall.waits_in)
          : fmt::format(
                "rank {} on {} has used almost no CPU time and moved no bytes for {} s, {}: {} sleeps{}",
                rank, host, stall.seconds, others, process(stall), in_kernel(stall));
  return {what, host,
          fmt::format("{}{} {}   # if it should be working", here ? "" : "ssh -t " + host + " ",
                      stall.name.starts_with("python") ? "py-spy dump --pid" : "gdb -p", stall.pid)};
}

}  // namespace ddlrun::launch
