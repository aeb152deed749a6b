// SPDX-License-Identifier: MIT
#include "runtime/models/net_files.hpp"

#include "base/text/error.hpp"
#include "runtime/core/gzip.hpp"
#include "runtime/models/net_yaml.hpp"

namespace ddlrun::runtime {
namespace {

constexpr std::size_t largest_net_file = std::size_t{1} << 20U;

std::string read_net_file(const std::string& path) {
  try {
    const auto bytes = read_data_file(path, largest_net_file);
    return {bytes.begin(), bytes.end()};
  } catch (const Error& error) {
    Message message = error.message();
    message.hint = "ddl-train --net lenet5   # or the path of a net in YAML";
    throw Error(error.kind(), std::move(message));
  }
}

}  // namespace

bool is_net_file(const std::string& name) {
  for (const char* ending : {".yaml", ".yml", ".prototxt", ".pbtxt"}) {
    if (name.ends_with(ending)) return true;
  }
  return name.find('/') != std::string::npos;
}

Net load_net(const std::string& name_or_file, Shape input, int classes) {
  if (!is_net_file(name_or_file)) return build_net(name_or_file, input, classes);
  return plan_net(parse_net_yaml(read_net_file(name_or_file), name_or_file), input, classes);
}

void check_net_file(const std::string& path) { static_cast<void>(parse_net_yaml(read_net_file(path), path)); }

}  // namespace ddlrun::runtime
