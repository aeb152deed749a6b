// SPDX-License-Identifier: MIT
// fuzz_replay DIRECTORY...: gives each target the files of DIRECTORY/TARGET/. Needs no clang, so that every
// build replays what the fuzzers have found.
#include "fuzz/fuzz_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;

std::string current_file;

// The first line of a failure is the file that causes it.
void print_file(int signal) {
  fmt::print(stderr, "fuzz_replay: {}\n", current_file);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::vector<fs::path> files_below(const fs::path& directory) {
  std::vector<fs::path> files;
  if (!fs::is_directory(directory)) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS}) std::signal(signal, print_file);
  std::size_t all = 0;
  for (const ddlrun::fuzz::Target& target : ddlrun::fuzz::linked_targets()) {
    std::size_t count = 0;
    for (int i = 1; i < argc; ++i) {
      for (const fs::path& path : files_below(fs::path(argv[i]) / target.name)) {
        current_file = path.string();
        std::ifstream file(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        target.run(bytes);
        ++count;
      }
    }
    fmt::print("{:<20} {:>5} inputs\n", target.name, count);
    all += count;
  }
  fmt::print("{} targets, {} inputs\n", ddlrun::fuzz::linked_targets().size(), all);
  return all > 0 ? 0 : 1;
}
