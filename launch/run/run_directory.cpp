// SPDX-License-Identifier: MIT
#include "launch/run/run_directory.hpp"

#include "base/os/state_directory.hpp"
#include "base/text/error.hpp"
#include "launch/history/run_record.hpp"

namespace ddlrun::launch {

std::string choose_run_dir(System& system, const std::string& wanted, bool create) {
  if (!wanted.empty()) {
    if (system.files.exists(wanted + "/run.json")) {
      throw Error(ErrorKind::request,
                  {"run directory already in use", wanted,
                   "another --run-dir, or omit it: each run then gets its own directory"});
    }
    if (create) system.files.make_directories(wanted);
    // Its owner could replace the rankfile and the commands between the check and the start.
    if (const std::string why = system.files.foreign_owner(wanted); !why.empty()) {
      throw Error(ErrorKind::request, {"the run directory is not safe: " + why, wanted,
                                       "a directory of your own, or omit --run-dir"});
    }
    return wanted;
  }
  const std::string state = find_own_state_directory(system, "the run directory", "--run-dir ./run");
  const std::string time = render_time_for_names(system.clock.now());
  if (!create) return state + "/dry-runs/" + time;  // beside the runs: launch does not follow the script
  const std::string base = state + "/runs", prefix = base + "/" + time + "-";
  try {
    system.files.make_directories(base);
    return system.files.make_directory(prefix);
  } catch (const Error& error) {
    const Message& message = error.message();
    throw Error(error.kind(), {message.what, message.where, message.hint + "; or --run-dir ./run"});
  }
}

}  // namespace ddlrun::launch
