// SPDX-License-Identifier: MIT
// Recorded answers of real schedulers, and an `Ask` that gives them.
#pragma once

#include "base/os/system.hpp"
#include "base/text/text.hpp"

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::tests {

inline std::string recorded_file(const std::string& name, bool must = true) {
  std::ifstream file(std::string(DDLRUN_TEST_DATA) + "/schedulers/" + name);
  if (!file && must) throw std::runtime_error("no recorded answer " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "slurm/06_partition_bad.txt" with its .err and .rc.
inline ProcessResult recorded(const std::string& name) {
  ProcessResult result;
  result.out = recorded_file(name);
  result.err = recorded_file(name + ".err", false);
  result.exit_status = std::stoi(recorded_file(name + ".rc"));
  return result;
}

inline ProcessResult answered(std::string out, int exit_status = 0, std::string err = "") {
  ProcessResult result;
  result.out = std::move(out);
  result.err = std::move(err);
  result.exit_status = exit_status;
  return result;
}

// Answers by the first words of a command line; remembers what was asked.
struct FakeAsk {
  std::vector<std::pair<std::string, ProcessResult>> answers;
  // Shared: an Ask is a copy.
  std::shared_ptr<std::vector<std::string>> asked = std::make_shared<std::vector<std::string>>();

  ProcessResult operator()(const Command& command) const {
    const std::string line = join(command, " ");
    asked->push_back(line);
    for (const auto& [begin, answer] : answers)
      if (line.compare(0, begin.size(), begin) == 0) return answer;
    throw std::runtime_error("unexpected command: " + line);
  }
};

}  // namespace ddlrun::tests
