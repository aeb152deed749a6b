// SPDX-License-Identifier: MIT
#include "runtime/allreduce_command.hpp"
#include "runtime/convert_command.hpp"
#include "runtime/input_command.hpp"
#include "runtime/timeline_command.hpp"
#include "runtime/train_command.hpp"

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (!words.empty() && words[0] == "allreduce") {
    words.erase(words.begin());
    return ddlrun::runtime::run_allreduce_command(words);
  }
  if (!words.empty() && words[0] == "timeline") {
    words.erase(words.begin());
    return ddlrun::runtime::run_timeline_command(words);
  }
  if (!words.empty() && words[0] == "convert-data") {
    words.erase(words.begin());
    return ddlrun::runtime::run_convert_command(words);
  }
  if (!words.empty() && words[0] == "read-data") {
    words.erase(words.begin());
    return ddlrun::runtime::run_input_command(words);
  }
  return ddlrun::runtime::run_train_command(words);
}
