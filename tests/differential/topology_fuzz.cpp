// SPDX-License-Identifier: MIT
// topology_fuzz DDLRUN DIRECTORY COUNT FIRST XML...: mutates machine files, the same for the same number, and
// gives each to `DDLRUN topo`. hwloc may die of them; ddlrun must end with 0 or with 3, a place and a remedy.
#include "base/os/posix_system.hpp"
#include "tests/support/mutate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using ddlrun::Command;
using ddlrun::ProcessResult;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// Positions of `mark` in the text, thinned by chance to one.
std::size_t pick(const std::string& text, std::string_view mark, std::mt19937_64& random) {
  if (text.empty()) return std::string::npos;
  const std::size_t at = text.find(mark, random() % text.size());
  return at == std::string::npos ? text.find(mark) : at;
}

// What a careless editor or another version of hwloc does: other numbers, names and attributes, lost or
// doubled lines, lost ends.
std::string mutate_xml(std::string text, std::mt19937_64& random) {
  static const std::vector<std::string> values = {"0",        "-1",         "1",
                                                  "0x0",      "0xffffffff", "0xf...f",
                                                  "",         "4294967295", "99999999999999999999",
                                                  "Machine",  "PU",         "Package",
                                                  "NUMANode", "Group",      "Bridge",
                                                  "Misc",     "L3Cache",    "Core",
                                                  "PCIDev",   "OSDev"};
  const std::size_t quote = pick(text, "=\"", random);
  const std::size_t line = pick(text, "\n", random);
  if (quote == std::string::npos || line == std::string::npos) return text;
  const std::size_t value_end = text.find('"', quote + 2);
  const std::size_t line_end = text.find('\n', line + 1);
  switch (random() % 5) {
    case 0:
    case 1:
      if (value_end != std::string::npos)
        text.replace(quote + 2, value_end - quote - 2, values[random() % values.size()]);
      break;
    case 2:  // the attribute is gone
      if (value_end != std::string::npos) {
        const std::size_t start = text.rfind(' ', quote);
        text.erase(start, value_end + 1 - start);
      }
      break;
    case 3:
      if (line_end != std::string::npos) text.erase(line, line_end - line);
      break;
    default:
      if (line_end != std::string::npos) text.insert(line, text.substr(line, line_end - line));
  }
  return text;
}

std::string mutated(const std::string& text, std::uint64_t number) {
  std::mt19937_64 random(number);
  if (number % 3 == 0) return ddlrun::tests::mutate(text, number);
  std::string result = text;
  for (std::uint64_t i = 0; i <= random() % 4; ++i) result = mutate_xml(std::move(result), random);
  return result;
}

struct Tally {
  int read = 0;
  int refused = 0;
  int reader_died = 0;
  int wrong = 0;
};

void judge(const ProcessResult& result, std::uint64_t number, Tally& tally) {
  const bool refusal =
      result.exit_status == 3 && result.out.empty() && result.err.starts_with("ddlrun: error: ") &&
      result.err.find("\n  at:  ") != std::string::npos && result.err.find("\n  try: ") != std::string::npos;
  if (result.ok() && result.err.empty() && !result.out.empty()) {
    ++tally.read;
  } else if (refusal) {
    ++tally.refused;
    if (result.err.find("the reader ") != std::string::npos) ++tally.reader_died;
  } else {
    ++tally.wrong;
    std::cout << fmt::format("number {}: status {}\n{}\n", number, result.exit_status, result.err);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 5) {
    std::cerr << "usage: topology_fuzz DDLRUN DIRECTORY COUNT FIRST XML...\n";
    return 2;
  }
  const std::uint64_t count = std::stoull(words[2]), first = std::stoull(words[3]);
  std::vector<std::string> texts;
  for (std::size_t i = 4; i < words.size(); ++i) texts.push_back(read_file(words[i]));
  const auto start = std::chrono::steady_clock::now();
  ddlrun::PosixProcesses processes;
  ddlrun::ProcessLimits limits;
  limits.timeout = std::chrono::seconds(60);
  Tally tally;
  constexpr std::uint64_t batch = 100;  // files that lie about at one time
  for (std::uint64_t begin = first; begin < first + count; begin += batch) {
    std::vector<Command> commands;
    for (std::uint64_t number = begin; number < std::min(begin + batch, first + count); ++number) {
      const std::string path = fmt::format("{}/{}.xml", words[1], number - begin);
      std::ofstream(path, std::ios::binary) << mutated(texts[number % texts.size()], number);
      commands.push_back({words[0], "topo", "--topology", path, number % 2 == 0 ? "--json" : "--svg=-"});
    }
    const auto results =
        processes.run_many(commands, limits, std::max(1u, std::thread::hardware_concurrency()));
    for (std::size_t i = 0; i < results.size(); ++i) judge(results[i], begin + i, tally);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << fmt::format("{} files: {} read, {} refused ({} because the reader died), {} wrong; {:.1f} s\n",
                           count, tally.read, tally.refused, tally.reader_died, tally.wrong, seconds);
  // Mutations that leave every file readable, or none, would test nothing.
  return tally.wrong == 0 && tally.read > 0 && tally.refused > 0 ? 0 : 1;
}
