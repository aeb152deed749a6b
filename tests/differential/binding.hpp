// SPDX-License-Identifier: MIT
// What ompi_map.sh or prrte_map.sh printed, read back: host and bound cores of each rank; and machines for it
// to judge on.
#pragma once

#include "base/os/posix_system.hpp"
#include "base/text/text.hpp"
#include "topology/hwloc_reader.hpp"

#include <fmt/format.h>

#include <climits>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::tests {

// "--jobs J" at the front of `words` is taken off; how many judges run side by side.
inline unsigned take_jobs(std::vector<std::string>& words) {
  if (words.size() <= 2 || words[0] != "--jobs") return 2;
  const auto jobs = static_cast<unsigned>(parse_unsigned(words[1], 64).value_or(2));
  words.erase(words.begin(), words.begin() + 2);
  return jobs;
}

struct Binding {
  std::string host;
  std::vector<int> cores;  // machine-wide logical numbers
  bool drawn = true;       // false: Open MPI drew nothing, which is "every core" or "not bound"
};

// "[BB/../..][BB/..]" and "cores:0,3" -> {0, 3}
inline std::vector<int> bound_cores(std::string_view picture) {
  if (picture.starts_with("cores:"))
    return parse_ranges(picture.substr(6), INT_MAX).value_or(std::vector<int>{});
  std::vector<int> cores;
  int core = 0;
  bool bound = false, any = false;
  for (const char c : picture) {
    bound = bound || c == 'B';
    any = any || c == 'B' || c == '.';
    if ((c != '/' && c != ']') || !any) continue;
    if (bound) cores.push_back(core);
    ++core;
    bound = any = false;
  }
  return cores;
}

// "HOST RANK PICTURE" lines by rank.
inline std::map<std::uint32_t, Binding> read_bindings(const std::string& printed) {
  std::map<std::uint32_t, Binding> bindings;
  for (const auto line : split(printed, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() != 3) continue;
    const auto rank = parse_unsigned(words[1], UINT32_MAX);
    if (!rank) continue;
    bindings[static_cast<std::uint32_t>(*rank)] = {std::string(words[0]), bound_cores(words[2]),
                                                   words[2] != "-"};
  }
  return bindings;
}

struct OracleMachine {
  std::string name, xml_file;
  topology::MachineTopology topology;
};

inline OracleMachine synthetic_machine(const std::string& text, const std::string& directory) {
  const auto loaded = topology::HwlocMachine::from_synthetic(text);
  std::string name = text;
  for (char& c : name) c = c == ' ' || c == ':' ? '-' : c;
  const std::string file = fmt::format("{}/{}.xml", directory, name);
  PosixFiles().write(file, loaded.xml());
  return {text, file, loaded.machine(text)};
}

inline OracleMachine machine_of_file(const std::string& file) {
  const auto loaded = topology::HwlocMachine::from_xml(PosixFiles().read(file, 16u << 20), file);
  return {file.substr(file.rfind('/') + 1), file, loaded.machine(file)};
}

}  // namespace ddlrun::tests
