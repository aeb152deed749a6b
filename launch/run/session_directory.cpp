// SPDX-License-Identifier: MIT
#include "launch/run/session_directory.hpp"

#include "base/os/host_info.hpp"
#include "base/os/remove_tree.hpp"
#include "base/text/error.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

// As opal_tmp_directory() of Open MPI 4.1.4.
std::string find_temporary_directory(const EnvVars& variables) {
  for (const char* name : {"TMPDIR", "TEMP", "TMP"}) {
    const auto found = variables.find(name);
    if (found != variables.end()) return found->second;
  }
  return "/tmp";
}

}  // namespace

void remove_session_directory(System& system, int mpirun) {
  if (system.kernel == nullptr) return;
  const auto own = system.kernel->file_info("/proc/self", true);
  const std::string host = system.environment.host_name.substr(0, system.environment.host_name.find('.'));
  const std::string sessions = fmt::format(
      "{}/ompi.{}.{}", find_temporary_directory(system.environment.variables), host, own ? own->uid : 0);
  const auto found = system.kernel->file_info(sessions, false);
  // Another user may have made a link of this name.
  if (!own || !found || found->kind != FileInfo::Kind::directory || found->uid != own->uid) return;
  const std::string session = fmt::format("{}/pid.{}", sessions, mpirun);
  try {
    if (system.kernel->file_info(session, false)) remove_tree(system, session);
    system.files.remove(sessions);
  } catch (const Error&) {
    return;  // it holds those of others, or the disk refuses
  }
}

}  // namespace ddlrun::launch
