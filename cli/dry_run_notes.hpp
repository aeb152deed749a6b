// SPDX-License-Identifier: MIT
// What a dry run of `submit` says beside the script; and what is said before a submission of words behind
// "--". Pure.
#pragma once

#include "base/text/error.hpp"
#include "schedulers/client/job_submission.hpp"
#include "schedulers/job/job_spec.hpp"
#include "topology/dims.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ddlrun::cli {

// "order: ddl: rank 1 is on node 2; ..."; "" where both orders place the ranks alike.
std::string order_note(const topology::Dims& dims, topology::RankOrder order);

// The lines by which the script is handed in by hand, and which of them the scheduler needs.
std::string hand_in_note(const schedulers::JobSpec& job, const schedulers::PreparedJob& prepared,
                         std::string_view scheduler);

// The paths of this host in the script of another; "" where the job names both. `missing` is what shows that
// it is another: sbatch, or the job's directory.
std::string foreign_paths_note(const schedulers::JobSpec& job, const schedulers::JobSettings& settings,
                               std::string_view missing);

// An option of `command` among the arguments of the program, such as --dry-run behind "--".
std::optional<Message> find_own_option(const std::string& command, std::span<const std::string_view> own,
                                       const Command& program);

}  // namespace ddlrun::cli
