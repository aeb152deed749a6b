// SPDX-License-Identifier: MIT
// torchrun in a job script: one agent a host, which starts the processes that `ddlrun launch` starts instead.
#pragma once

#include "schedulers/scripts/convert_to_job_file.hpp"
#include "schedulers/scripts/launch_step.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::job_scripts {

struct TorchStart {
  Command program;                   // without torchrun: "python train.py"
  std::uint64_t processes = 1;       // of each host
  std::vector<std::string> dropped;  // words that ddlrun replaces: "--rdzv_backend=c10d"
  std::vector<std::string> wrong;    // what has no counterpart, in words for people
  std::vector<std::string> notes;    // what changes, for people
};

// `words` begin with torchrun or "python -m torch.distributed.run"; nothing for another command. `step` is
// the srun in front of them, or an empty one.
std::optional<TorchStart> read_torch_start(const Command& words, const LaunchStep& step,
                                           const ResourceRequest& request, const UnwrapLauncher& unwrap);

// torchrun by its name or path, or the module that it is.
bool is_torchrun(std::string_view word);

// How many words at the end of both are the same: the program's own, behind a launcher and its options.
std::size_t count_common_tail(const Command& words, const Command& program);

// torchrun inside a word: "bash -c 'torchrun ...'".
bool mentions_torchrun(const Command& words);

// A variable by which torchrun's agents meet; ddlrun sets it for each rank.
bool is_rendezvous_variable(std::string_view name);

}  // namespace ddlrun::job_scripts
