// SPDX-License-Identifier: MIT
// Why a job's script started nothing, and the remedy: the two lines of ddl_fail (templates/script/head.sh).
// The script prints them and writes them to a file of the job's directory. A program can print such lines
// too, so only the file proves whose they are.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_ref.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ddlrun::schedulers {

struct StopReason {
  std::string what, remedy;  // as they were written: not yet printable
  bool is_of_doctor() const { return what.starts_with("doctor's status is "); }
};

// The reason of the job's last start, from its file; nothing where the file is missing, is no regular file,
// or belongs to another user.
std::optional<StopReason> read_stop_reason(System& system, const JobRef& job);

// The last reason that is printed in the lines of a log.
std::optional<StopReason> find_stop_reason(std::span<const std::string_view> log);

// The lines above the place where the log has this reason last; none where the log lacks it.
std::span<const std::string_view> lines_above(std::span<const std::string_view> log,
                                              const StopReason& reason);

}  // namespace ddlrun::schedulers
