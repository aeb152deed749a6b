// SPDX-License-Identifier: MIT
// hwloc's XML: foreign files make hwloc itself crash, so a child reads them, as in `ddlrun read-topology`.
// What it gives is a machine.
#include "fuzz/fuzz_target.hpp"
#include "topology/hwloc_reader.hpp"
#include "topology/machine_json.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace ddlrun;

namespace {

// In the child, whose crash is no find; its messages are hwloc's.
void write_machine(std::string_view xml, int out) {
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGSEGV}) std::signal(signal, SIG_DFL);
  dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
  const auto machine = fuzz::accepted(
      [&] { return topology::HwlocMachine::from_xml(std::string(xml), "m.xml").machine("file m.xml"); });
  const std::string text = machine ? topology::render_machine_json(*machine) : std::string();
  _exit(write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

}  // namespace

DDLRUN_FUZZ_TARGET(hwloc_xml) {
  const int file = memfd_create("machine", MFD_CLOEXEC);
  const pid_t child = fork();
  fuzz::require(file >= 0 && child >= 0, "a child can be made");
  if (child == 0) write_machine(input, file);
  int status = 0;
  waitpid(child, &status, 0);
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_CUR)), '\0');
  fuzz::require(pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()),
                "the child's text can be read");
  close(file);
  if (status != 0 || text.empty()) return;
  const topology::MachineTopology machine = topology::parse_machine_json(text, "m.xml");
  fuzz::require(topology::parse_machine_json(topology::render_machine_json(machine), "m.xml") == machine,
                "a machine is read as written", text);
}
