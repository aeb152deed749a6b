// SPDX-License-Identifier: MIT
#include "launch/frameworks/intel_caffe_options.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::frameworks {

namespace {

void check_word(const std::string& option, const std::string& word, std::span<const std::string_view> known) {
  if (std::ranges::find(known, word) != known.end()) return;
  std::vector<std::string> names(known.begin(), known.end());
  throw Error(ErrorKind::usage, {fmt::format("'{}' is not one of {}", printable(word, 40), join(names, ", ")),
                                 option, option + " " + closest_match(word, names).value_or(names[0])});
}

// The values of `key: "..."` lines; what stands behind # is a comment.
std::vector<std::string> prototxt_values(std::string_view text, std::string_view key) {
  std::vector<std::string> values;
  for (std::string_view line : split(text, '\n')) {
    line = line.substr(0, line.find('#'));
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos ||
        (at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t' && line[at - 1] != '{'))
      continue;
    std::string_view rest = trim(line.substr(at + key.size()));
    if (!rest.starts_with(':')) continue;
    rest = trim(rest.substr(1));
    const char quote = rest.empty() ? ' ' : rest[0];
    if (quote == '"' || quote == '\'') {
      rest = rest.substr(1);
      rest = rest.substr(0, rest.find(quote));
    } else {
      rest = rest.substr(0, rest.find_first_of(" \t}"));
    }
    values.emplace_back(rest);
  }
  return values;
}

}  // namespace

Command intel_caffe_command(const IntelCaffeRun& run) {
  constexpr std::array<std::string_view, 4> modes{"train", "time", "inf_time", "none"};
  check_word("--mode", run.mode, modes);
  const auto need = [](bool given, const std::string& what, const std::string& option) {
    if (!given)
      throw Error(ErrorKind::usage,
                  {what, option, option + (option == "--iteration" ? " 100" : " FILE.prototxt")});
  };
  if (run.mode == "none")
    throw Error(ErrorKind::usage, {"--mode none runs no Caffe", "--mode",
                                   "ddlrun doctor --hosts @HOSTFILE, which checks hosts and network"});
  Command command{run.caffe};
  if (run.mode == "train") {
    need(!run.solver.empty(), "no solver is named", "--solver");
    command.insert(command.end(), {"train", "--solver", run.solver});
    if (!run.snapshot.empty()) command.push_back("--snapshot=" + run.snapshot);
    if (!run.weights.empty()) command.insert(command.end(), {"--weights", run.weights});
  } else {
    need(!run.model.empty(), "no model is named", "--model_file");
    need(run.iterations > 0, "the number of iterations to time is missing", "--iteration");
    command.insert(command.end(),
                   {"time", "--iterations", fmt::format("{}", run.iterations), "--model", run.model});
    if (run.mode == "inf_time") command.push_back("-forward_only");
  }
  if (!run.engine.empty()) command.push_back("--engine=" + run.engine);
  return command;
}

void check_intel_caffe(const IntelCaffeOptions& options) {
  constexpr std::array<std::string_view, 2> networks{"opa", "tcp"};
  constexpr std::array<std::string_view, 4> cpus{"bdw", "knl", "skx", "knm"};
  check_word("--network", options.network, networks);
  if (!options.cpu.empty()) check_word("--cpu", options.cpu, cpus);
  if (options.network == "tcp" && options.netmask.empty())
    throw Error(ErrorKind::usage, {"--network tcp needs an interface or a network", "--netmask",
                                   "--netmask eth0; ip -4 -br addr lists the names"});
}

std::optional<std::string> find_net_file(std::string_view solver) {
  for (const char* key : {"net", "train_net"}) {
    const auto values = prototxt_values(solver, key);
    if (!values.empty()) return values.front();
  }
  return std::nullopt;
}

std::vector<std::string> find_lmdb_sources(std::string_view net) {
  const auto backends = prototxt_values(net, "backend");
  if (std::ranges::find(backends, "LMDB") == backends.end()) return {};
  return prototxt_values(net, "source");
}

std::string_view cpu_of_model(std::string_view model) {
  const bool phi = model.find("Phi") != std::string_view::npos;
  for (const char* number : {"7210", "7230", "7250", "7290"}) {
    if (phi && model.find(number) != std::string_view::npos) return "knl";
  }
  if (phi) return "knm";
  for (const char* number : {"E5-46", "E5-26", "E5-16", "E7-88", "E7-48", "E3-12", "D-15", "D15"}) {
    if (model.find(number) != std::string_view::npos) return "bdw";
  }
  return "skx";
}

}  // namespace ddlrun::frameworks
