// SPDX-License-Identifier: MIT
#include "runtime/app/option_references.hpp"

#include "runtime/core/option_parser.hpp"
#include "runtime/models/net.hpp"

namespace ddlrun::runtime {

const std::vector<CommandRow>& command_rows() {
  static const std::vector<CommandRow> rows{
      {"test", "test CHECKPOINT [--data PATH]", "test a checkpoint"},
      {"predict", "predict --checkpoint DIR PHOTO...", "name the classes of photos"},
      {"convert-data", "convert-data FROM TO", "convert images to an LMDB for Caffe"},
      {"read-data", "read-data [PATH]", "measure how fast images are read; list damaged ones"},
      {"print-net", "print-net [NAME]", "print a built-in net, or describe the YAML format"},
      {"check-options", "check-options RANKS [OPTIONS]", "check whether a training could start"},
      {"timeline", "timeline FILE", "merge the --timeline parts of a killed run"},
      {"allreduce", "allreduce", "measure an all-reduce over the ranks"},
  };
  return rows;
}

std::vector<OptionReference> describe_options(const std::vector<Option>& table) {
  std::vector<OptionReference> described;
  std::string group = "Options";
  for (const Option& row : table) {
    if (row.name.empty()) {
      group = row.help.substr(0, row.help.find_last_not_of(':') + 1);
      continue;
    }
    OptionReference option;
    option.names = {row.name};
    if (row.name == "--help") option.names.emplace_back("-h");
    option.value = row.value;
    option.help = row.help;
    option.group = group;
    option.choices = choices_of_value(row.value);
    option.source = source_of_value(row.value);
    option.values = row.value.empty() ? 0 : 1;
    if (row.name == "--net") option.choices = net_names();
    described.push_back(std::move(option));
  }
  return described;
}

}  // namespace ddlrun::runtime
