// SPDX-License-Identifier: MIT
// Which environment variables reach the ranks. Always by name, so that no value shows in a process
// list.
#pragma once

#include "base/os/system.hpp"
#include "topology/affinity/thread_settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// Why a flag or a variable is there; `subject` is the flag or name.
struct Reason {
  std::string subject;
  std::string why;

  bool operator==(const Reason&) const = default;
};

struct ExportRequest {
  std::vector<std::string> typed;  // -x as typed: "NAME", "NAME=value", "NCCL_*"
  int fewest_cores = 0;            // of any rank
  int most_cores = 0;
  // How the threads are placed; the cores are taken from above. Nothing: only their number is set.
  std::optional<affinity::ThreadRequest> threads = {};
  bool others = false;  // ranks on other hosts, which see nothing of our environment but what is exported
  // NAME=value for where NAME is not set here: words that others wrote for the user, so they may be seen.
  std::vector<std::string> defaults = {};
  bool passes_all = false;   // the launcher gives its ranks the whole environment, secrets too
  bool passes_most = false;  // the launcher passes what belongs to all hosts (shell_variables.hpp)
};

struct Exports {
  std::vector<std::string> names;  // in the order of mpirun's -x, each once
  EnvVars set_by_us;               // what ddlrun adds to mpirun's environment, with values anybody may see
  EnvVars set_by_user;             // from -x NAME=value: values that are never shown or kept
  std::vector<Reason> reasons;
  bool chooses_threads = false;      // OMP_NUM_THREADS is that of the plan, not the user's
  std::vector<std::string> remarks;  // what contradicts each other or the plan, and what stays behind
};

// PATH, LD_LIBRARY_PATH, CUDA_DEVICE_ORDER, OMP_NUM_THREADS and what places threads, then what the user asked
// for. "NCCL_*" is all such names that are set here, but for those that look like secrets: they are exported
// by their own name only. Error{usage}: a bad name, a name that is not set here, one name with two values.
Exports plan_exports(const ExportRequest& request, const EnvVars& environment);

// Letters, digits and '_', no digit first.
bool is_variable_name(std::string_view name);

}  // namespace ddlrun::launch
