// SPDX-License-Identifier: MIT
#include "schedulers/scripts/directive_lexer.hpp"

#include "base/text/shell_lexer.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::job_scripts {

namespace {

enum class Takes { nothing, value, maybe };  // maybe: only as --option=value

struct SlurmOption {
  char letter;
  std::string_view name;
  Takes takes;
};

// sbatch(1) of Slurm 22.05.
constexpr std::array<SlurmOption, 101> slurm_table{{
    {'A', "account", Takes::value},
    {0, "acctg-freq", Takes::value},
    {'a', "array", Takes::value},
    {0, "batch", Takes::value},
    {0, "bb", Takes::value},
    {0, "bbf", Takes::value},
    {'b', "begin", Takes::value},
    {'D', "chdir", Takes::value},
    {0, "cluster-constraint", Takes::value},
    {'M', "clusters", Takes::value},
    {0, "comment", Takes::value},
    {'C', "constraint", Takes::value},
    {0, "container", Takes::value},
    {0, "contiguous", Takes::nothing},
    {'S', "core-spec", Takes::value},
    {0, "cores-per-socket", Takes::value},
    {0, "cpu-freq", Takes::value},
    {0, "cpus-per-gpu", Takes::value},
    {'c', "cpus-per-task", Takes::value},
    {0, "deadline", Takes::value},
    {0, "delay-boot", Takes::value},
    {'d', "dependency", Takes::value},
    {'m', "distribution", Takes::value},
    {'e', "error", Takes::value},
    {'x', "exclude", Takes::value},
    {0, "exclusive", Takes::maybe},
    {0, "export", Takes::value},
    {0, "export-file", Takes::value},
    {'B', "extra-node-info", Takes::value},
    {0, "get-user-env", Takes::maybe},
    {0, "gid", Takes::value},
    {0, "gpu-bind", Takes::value},
    {0, "gpu-freq", Takes::value},
    {'G', "gpus", Takes::value},
    {0, "gpus-per-node", Takes::value},
    {0, "gpus-per-socket", Takes::value},
    {0, "gpus-per-task", Takes::value},
    {0, "gres", Takes::value},
    {0, "gres-flags", Takes::value},
    {'h', "help", Takes::nothing},
    {0, "hint", Takes::value},
    {'H', "hold", Takes::nothing},
    {0, "ignore-pbs", Takes::nothing},
    {'i', "input", Takes::value},
    {'J', "job-name", Takes::value},
    {0, "kill-on-invalid-dep", Takes::value},
    {'L', "licenses", Takes::value},
    {0, "mail-type", Takes::value},
    {0, "mail-user", Takes::value},
    {0, "mcs-label", Takes::value},
    {0, "mem", Takes::value},
    {0, "mem-bind", Takes::value},
    {0, "mem-per-cpu", Takes::value},
    {0, "mem-per-gpu", Takes::value},
    {0, "mincpus", Takes::value},
    {0, "network", Takes::value},
    {0, "nice", Takes::maybe},
    {'k', "no-kill", Takes::maybe},
    {0, "no-requeue", Takes::nothing},
    {'F', "nodefile", Takes::value},
    {'w', "nodelist", Takes::value},
    {'N', "nodes", Takes::value},
    {'n', "ntasks", Takes::value},
    {0, "ntasks-per-core", Takes::value},
    {0, "ntasks-per-gpu", Takes::value},
    {0, "ntasks-per-node", Takes::value},
    {0, "ntasks-per-socket", Takes::value},
    {0, "open-mode", Takes::value},
    {'o', "output", Takes::value},
    {'O', "overcommit", Takes::nothing},
    {'s', "oversubscribe", Takes::nothing},
    {0, "parsable", Takes::nothing},
    {'p', "partition", Takes::value},
    {0, "power", Takes::value},
    {0, "prefer", Takes::value},
    {0, "priority", Takes::value},
    {0, "profile", Takes::value},
    {0, "propagate", Takes::maybe},
    {'q', "qos", Takes::value},
    {'Q', "quiet", Takes::nothing},
    {0, "reboot", Takes::nothing},
    {0, "requeue", Takes::nothing},
    {0, "reservation", Takes::value},
    {0, "signal", Takes::value},
    {0, "sockets-per-node", Takes::value},
    {0, "spread-job", Takes::nothing},
    {0, "switches", Takes::value},
    {0, "test-only", Takes::nothing},
    {0, "thread-spec", Takes::value},
    {0, "threads-per-core", Takes::value},
    {'t', "time", Takes::value},
    {0, "time-min", Takes::value},
    {0, "tmp", Takes::value},
    {0, "uid", Takes::value},
    {0, "use-min-nodes", Takes::nothing},
    {'v', "verbose", Takes::nothing},
    {'W', "wait", Takes::nothing},
    {0, "wait-all-nodes", Takes::value},
    {0, "wckey", Takes::value},
    {0, "wrap", Takes::value},
    {0, "share", Takes::nothing},
}};

// qsub(1B) of OpenPBS 23: letters with a value, and without.
constexpr std::string_view pbs_with_value = "aAcCeJjklmMNopPqrRSuvW";
constexpr std::string_view pbs_flags = "hIVXzfG";
// qsub(1B) of Torque 6: what it has beside these.
constexpr std::string_view torque_with_value = "bdDFKLtTw";
constexpr std::string_view torque_flags = "BEnx";

struct Word {
  std::string text;
  std::size_t at = 0;
};

// sbatch: blanks part words, both quotes and the backslash protect, a bare '#' begins a comment anywhere.
// qsub: blanks part words, quotes protect, '#' is text.
std::vector<Word> cut_words(std::string_view line, std::size_t from, bool slurm) {
  std::vector<Word> words;
  std::size_t i = from;
  for (;;) {
    while (i < line.size() && is_blank(line[i])) ++i;
    if (i >= line.size() || (slurm && line[i] == '#')) return words;
    Word word{"", i};
    char quote = 0;
    for (; i < line.size() && (quote != 0 || !is_blank(line[i])); ++i) {
      const char c = line[i];
      if (quote == 0 && slurm && c == '#') break;
      if (slurm && c == '\\' && quote != '\'' && i + 1 < line.size()) {
        word.text += line[++i];
      } else if (quote != 0 && c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else {
        word.text += c;
      }
    }
    words.push_back(std::move(word));
  }
}

// The value of an option with its quotes; quotes around all of it are qsub's own and go.
std::string quoted_value(std::string_view line, const Directive& option) {
  std::size_t at = std::min(line.size(), static_cast<std::size_t>(option.column) + 1);
  while (at < line.size() && is_blank(line[at])) ++at;
  std::string value;
  char quote = 0;
  std::size_t pieces = 0;  // of quoted text
  for (; at < line.size() && (quote != 0 || !is_blank(line[at])); value += line[at++]) {
    if (quote == 0 && (line[at] == '"' || line[at] == '\'')) {
      quote = line[at];
      ++pieces;
    } else if (line[at] == quote) {
      quote = 0;
    }
  }
  const bool whole = pieces == 1 && value.size() > 1 && value.front() == value.back() &&
                     (value.front() == '"' || value.front() == '\'');
  return whole ? value.substr(1, value.size() - 2) : value;
}

const SlurmOption* find_letter(char letter) {
  const auto found =
      std::find_if(slurm_table.begin(), slurm_table.end(),
                   [letter](const SlurmOption& option) { return option.letter == letter && letter != 0; });
  return found == slurm_table.end() ? nullptr : &*found;
}

// As getopt_long: the name itself, else the only one that begins so.
const SlurmOption* find_name(std::string_view name) {
  const SlurmOption* result = nullptr;
  for (const SlurmOption& option : slurm_table) {
    if (option.name == name) return &option;
    if (name.empty() || !option.name.starts_with(name)) continue;
    if (result != nullptr) return nullptr;
    result = &option;
  }
  return result;
}

// "-N" or "--nodes".
const SlurmOption* find_option(std::string_view option) {
  if (option.starts_with("--")) return find_name(option.substr(2));
  return option.size() == 2 && option[0] == '-' ? find_letter(option[1]) : nullptr;
}

}  // namespace

std::vector<Directive> read_slurm_options(std::string_view line, std::size_t from, int number) {
  const std::vector<Word> words = cut_words(line, from, true);
  std::vector<Directive> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    Directive option{"", text, number, static_cast<int>(words[i].at) + 1, Unread::no};
    if (text.starts_with("--") && text.size() > 2) {
      const std::size_t equals = text.find('=');
      option.option = text.substr(0, equals);
      option.value = equals == std::string::npos ? "" : text.substr(equals + 1);
      const SlurmOption* known = find_name(std::string_view(option.option).substr(2));
      if (equals == std::string::npos && known != nullptr && known->takes == Takes::value &&
          i + 1 < words.size())
        option.value = words[++i].text;
    } else if (text.size() >= 2 && text[0] == '-') {
      const SlurmOption* known = find_letter(text[1]);
      option.option = text.substr(0, 2);
      option.value = text.substr(2);
      if (option.value.empty() && known != nullptr && known->takes == Takes::value && i + 1 < words.size())
        option.value = words[++i].text;
    }
    options.push_back(std::move(option));
  }
  return options;
}

std::vector<Directive> read_pbs_options(std::string_view line, std::size_t from, int number) {
  const std::vector<Word> words = cut_words(line, from, false);
  std::vector<Directive> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    Directive option{"", text, number, static_cast<int>(words[i].at) + 1, Unread::no};
    if (text.size() >= 2 && text[0] == '-' && text[1] != '-') {
      option.option = text.substr(0, 2);
      option.value = text.substr(2);
      if (option.value.empty() && takes_value_pbs(text[1]) && i + 1 < words.size())
        option.value = words[++i].text;
    }
    options.push_back(std::move(option));
  }
  return options;
}

std::vector<std::string> cut_variable_list(std::string_view line, const Directive& option) {
  std::vector<std::string> items(1);
  char quote = 0;
  for (const char c : quoted_value(line, option)) {
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == ',' && quote == 0) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  return items;
}

std::optional<std::string> slurm_option_name(std::string_view option) {
  const SlurmOption* const found = find_option(option);
  if (found == nullptr) return std::nullopt;
  return std::string(found->name);
}

bool takes_value_slurm(std::string_view option) {
  const SlurmOption* const found = find_option(option);
  return found != nullptr && found->takes == Takes::value;
}

std::vector<std::string> slurm_options_like(std::string_view option) {
  std::vector<std::string> names;
  if (!option.starts_with("--") || option.size() < 3) return names;
  for (const SlurmOption& each : slurm_table) {
    if (each.name.starts_with(option.substr(2))) names.emplace_back(each.name);
  }
  return names;
}

const std::vector<std::string>& all_slurm_options() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const SlurmOption& each : slurm_table) names.push_back("--" + std::string(each.name));
    return names;
  }();
  return all;
}

bool takes_value_pbs(char letter) {
  return pbs_with_value.find(letter) != std::string_view::npos ||
         torque_with_value.find(letter) != std::string_view::npos;
}
bool is_pbs_option(char letter) {
  return pbs_with_value.find(letter) != std::string_view::npos ||
         pbs_flags.find(letter) != std::string_view::npos;
}
bool is_torque_option(char letter) {
  return torque_with_value.find(letter) != std::string_view::npos ||
         torque_flags.find(letter) != std::string_view::npos;
}

}  // namespace ddlrun::job_scripts
