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

// Another user may have made a link of this name.
bool is_own_directory(System& system, const std::string& path, unsigned uid) {
  const auto found = system.kernel->file_info(path, false);
  return found && found->kind == FileInfo::Kind::directory && found->uid == uid;
}

void remove_own_tree(System& system, const std::string& path, unsigned uid) {
  try {
    if (is_own_directory(system, path, uid)) remove_tree(system, path);
  } catch (const Error&) {
    return;  // the disk refuses
  }
}

}  // namespace

void remove_session_directory(System& system, int mpirun) {
  if (system.kernel == nullptr) return;
  const auto own = system.kernel->file_info("/proc/self", true);
  if (!own) return;
  const std::string host = system.environment.host_name.substr(0, system.environment.host_name.find('.'));
  const std::string base = find_temporary_directory(system.environment.variables);
  remove_own_tree(system, fmt::format("{}/prterun.{}.{}.{}", base, host, mpirun, own->uid), own->uid);
  remove_own_tree(system, fmt::format("{}/ompi.{}", base, mpirun), own->uid);
  const std::string sessions = fmt::format("{}/ompi.{}.{}", base, host, own->uid);
  if (!is_own_directory(system, sessions, own->uid)) return;
  const std::string session = fmt::format("{}/pid.{}", sessions, mpirun);
  try {
    if (system.kernel->file_info(session, false)) remove_tree(system, session);
    system.files.remove(sessions);
  } catch (const Error&) {
    return;  // it holds those of others, or the disk refuses
  }
}

}  // namespace ddlrun::launch
