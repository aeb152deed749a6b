// SPDX-License-Identifier: MIT
#include "launch/frameworks/launcher_options.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/horovod_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace ddlrun::frameworks {

namespace {

// Ranks, hosts, places, binding and exports, without dashes; and what has no effect on the ranks.
constexpr std::string_view replaced_names =
    " n np num-proc c N npernode n-per-node npersocket ppn perhost grr rr H host hosts f hostfile "
    "machinefile "
    "default-hostfile rf rankfile x env envall envlist envnone genv genvall genvlist genvnone map-by bind-to "
    "rank-by bynode byslot bind-to-core bind-to-none bycore bysocket cpus-per-proc cpus-per-rank "
    "report-bindings "
    "display-map display-allocation oversubscribe nooversubscribe allow-run-as-root launcher bootstrap rmk "
    "mpi v "
    "verbose q quiet ";

struct TypedOption {
  std::string name;                  // "--cycle-time-ms"
  std::optional<std::string> value;  // of "--name=value" or of the words behind it
};

TypedOption read_option(const Command& words) {
  TypedOption option{words[0], std::nullopt};
  const std::size_t equals = words[0].starts_with("--") ? words[0].find('=') : std::string::npos;
  if (equals != std::string::npos) {
    option.name.resize(equals);
    option.value = words[0].substr(equals + 1);
  } else if (words.size() > 1) {
    option.value = words[1];
  }
  return option;
}

bool is_replaced(const std::string& name) {
  const std::string bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  return replaced_names.find(" " + bare + " ") != std::string_view::npos;
}

// horovodrun's switches by the key that they set, and its value.
TypedOption as_key_and_value(TypedOption option) {
  constexpr std::array<std::array<std::string_view, 3>, 3> others{{
      {"--disable-cache", "--cache-capacity", "0"},
      {"--log-without-timestamp", "--log-with-timestamp", "false"},
      {"--log-hide-timestamp", "--log-with-timestamp", "false"},
  }};
  for (const auto& [name, key, value] : others)
    if (option.name == name) return {std::string(key), std::string(value)};
  if (option.name.starts_with("--no-")) return {"--" + option.name.substr(5), "false"};
  if (!option.value) option.value = "true";
  return option;
}

// "HOROVOD_CYCLE_TIME=3.5"; nothing for another option, and for a value that only the script's shell knows.
std::optional<std::string> horovod_variable_of(const TypedOption& typed) {
  const TypedOption option = as_key_and_value(typed);
  const auto key = std::ranges::find(horovod_keys(), std::string_view(option.name), &HorovodKey::flag);
  if (key == horovod_keys().end() || option.value->find_first_of("$`") != std::string::npos)
    return std::nullopt;
  try {
    return fmt::format("{}={}", key->variable, convert_horovod(*key, {*option.value, option.name}));
  } catch (const Error&) {
    return std::nullopt;  // horovodrun would refuse it, too
  }
}

}  // namespace

LauncherOptions sort_launcher_options(const NestedLauncher& launcher) {
  LauncherOptions sorted;
  const bool is_horovodrun = launcher.name == "horovodrun";
  if (!is_horovodrun && !launcher.of_mpi) return sorted;
  sorted.unknown = launcher.unknown;
  for (const Command& words : launcher.options) {
    if (std::ranges::find(launcher.unknown, words[0]) != launcher.unknown.end()) continue;
    const TypedOption option = read_option(words);
    if (is_replaced(option.name)) continue;
    const auto variable = is_horovodrun ? horovod_variable_of(option) : std::nullopt;
    if (variable)
      sorted.variables.push_back(*variable);
    else
      sorted.left_out.push_back(join(words, " "));
  }
  return sorted;
}

}  // namespace ddlrun::frameworks
