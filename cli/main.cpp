// SPDX-License-Identifier: MIT
#include "base/os/posix_host_info.hpp"
#include "base/os/posix_system.hpp"
#include "cli/app.hpp"

#include <unistd.h>

int main(int argc, char** argv) {
  ddlrun::prepare_process();
  ddlrun::PosixProcesses processes;
  ddlrun::PosixFiles files;
  ddlrun::SystemClock clock;
  ddlrun::PosixHostInfo kernel;
  ddlrun::PosixTerminal terminal;
  const ddlrun::Environment environment = ddlrun::read_environment();
  const auto out = [](std::string_view bytes) { ddlrun::write_all(STDOUT_FILENO, bytes); };
  const auto err = [](std::string_view bytes) { ddlrun::write_diagnostics(bytes); };
  return ddlrun::cli::run_app({argv + 1, argv + argc},
                              {processes, files, clock, environment, out, err, {}, &kernel, &terminal});
}
