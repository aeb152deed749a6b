// SPDX-License-Identifier: MIT
// The supervisor of a rank: the program is its child, and it ends as the program ends, so that the launcher
// sees the program's own status (`saved_status` excepted); meanwhile it is watched, and nothing of it stays
// behind. Linux only.
#pragma once

#include "base/os/system.hpp"
#include "base/process/posix_output_forwarder.hpp"
#include "base/process/posix_process_tree.hpp"
#include "base/process/tree_usage.hpp"

#include <signal.h>

#include <chrono>
#include <functional>
#include <string_view>

namespace ddlrun {

struct Supervision {
  std::function<void(const TreeSnapshot& sample)>
      on_sample;  // may be empty; called in another process of ours
  std::chrono::milliseconds every{1000};
  // Likewise, and cheaper: each `usage_every`, first after `usage_first`.
  std::function<void(const TreeUsage& usage)> on_usage;
  std::chrono::milliseconds usage_every{2000}, usage_first{2000};
  std::function<void(const ProcessResult& end)> on_end;  // likewise
  RelayMark mark;  // not empty: what the program says on stdout and stderr goes to our stderr, so marked
  bool marks_only_err = false;  // the program keeps our stdout
  // Of a program that saved after a signal: the launcher gets 0 instead, because it would end the other
  // ranks, which still save. 0: none.
  int saved_status = 0;
};

// From a launcher that would end its job by itself if it got TERM: TERM for the program and what it has
// started in our group. Other processes ignore it.
constexpr int end_signal = SIGURG;

// The errno if the program could not be started; else it does not return.
int supervise_program(const Command& command, const Supervision& supervision);

// For a rank that fails, between its last output and its end: the launcher drops what arrives after the end.
void wait_for_delivery();

// True if our stderr has no reader: the launcher died before this process began.
bool launcher_is_gone();
// True if our stdout has no reader: that of a pipe has ended.
bool stdout_has_no_reader();

// Writes a short text to stderr, or drops it without a reader: never blocks, never dies of SIGPIPE.
void write_status(std::string_view text);

}  // namespace ddlrun
