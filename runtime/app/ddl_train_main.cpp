// SPDX-License-Identifier: MIT
#include "base/os/standard_output.hpp"
#include "runtime/app/allreduce_command.hpp"
#include "runtime/app/check_options_command.hpp"
#include "runtime/app/convert_data_command.hpp"
#include "runtime/app/model_commands.hpp"
#include "runtime/app/print_net_command.hpp"
#include "runtime/app/program_reference.hpp"
#include "runtime/app/read_data_command.hpp"
#include "runtime/app/timeline_command.hpp"
#include "runtime/app/train_command.hpp"

namespace {

struct Command {
  const char* name;
  int (*run)(const std::vector<std::string>& args);
};
constexpr Command commands[] = {
    {"allreduce", ddlrun::runtime::run_allreduce_command},
    {"timeline", ddlrun::runtime::run_timeline_command},
    {"check-options", ddlrun::runtime::run_check_options_command},
    {"convert-data", ddlrun::runtime::run_convert_data_command},
    {"read-data", ddlrun::runtime::run_read_data_command},
    {"predict", ddlrun::runtime::run_predict_command},
    {"test", ddlrun::runtime::run_test_command},
    {"print-net", ddlrun::runtime::run_print_net_command},
    {"--print-net", ddlrun::runtime::run_print_net_command},
    {"__complete", ddlrun::runtime::run_complete_command},
    {"__reference", ddlrun::runtime::run_reference_command},
};

int run(std::vector<std::string> args) {
  for (const Command& command : commands) {
    if (args.empty() || args.front() != command.name) continue;
    args.erase(args.begin());
    return command.run(args);
  }
  return ddlrun::runtime::run_train_command(args);
}

}  // namespace

int main(int argc, char** argv) {
  return ddlrun::run_with_output("ddl-train", [&] { return run({argv + (argc > 0 ? 1 : 0), argv + argc}); });
}
