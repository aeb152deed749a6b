// SPDX-License-Identifier: MIT
#include "launch/plan/ibm_compat.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ddlrun::launch {

namespace {

enum class IbmOption {
  hosts,
  hostfile,
  accelerators,
  nodes,
  racks,
  aisles,
  mode,
  ddl_argument,
  no_ddl_options,
  rankfile,
  exported,
  mpi_argument,
  tcp,
  verbose,
  of_spectrum_mpi,
  dry_run,  // ours, as people look before they leap
  as_root,  // ours, as the refusal of root names it
};

struct IbmName {
  std::string_view name;  // without its dashes: one or two are the same
  IbmOption option;
};

constexpr std::array ibm_names{
    IbmName{"H", IbmOption::hosts},
    IbmName{"host", IbmOption::hosts},
    IbmName{"hostfile", IbmOption::hostfile},
    IbmName{"accelerators", IbmOption::accelerators},
    IbmName{"nodes", IbmOption::nodes},
    IbmName{"racks", IbmOption::racks},
    IbmName{"aisles", IbmOption::aisles},
    IbmName{"m", IbmOption::mode},
    IbmName{"mode", IbmOption::mode},
    IbmName{"ddlarg", IbmOption::ddl_argument},
    IbmName{"ddloption", IbmOption::ddl_argument},
    IbmName{"no_ddloptions", IbmOption::no_ddl_options},
    IbmName{"rf", IbmOption::rankfile},
    IbmName{"rankfile", IbmOption::rankfile},
    IbmName{"x", IbmOption::exported},
    IbmName{"mpiarg", IbmOption::mpi_argument},
    IbmName{"t", IbmOption::tcp},
    IbmName{"tcp", IbmOption::tcp},
    IbmName{"v", IbmOption::verbose},
    IbmName{"verbose", IbmOption::verbose},
    IbmName{"disable_gdr", IbmOption::of_spectrum_mpi},
    IbmName{"gpu", IbmOption::of_spectrum_mpi},
    IbmName{"dry-run", IbmOption::dry_run},
    IbmName{"allow-run-as-root", IbmOption::as_root},
};

bool takes_value(IbmOption option) {
  switch (option) {
    case IbmOption::no_ddl_options:
    case IbmOption::tcp:
    case IbmOption::verbose:
    case IbmOption::of_spectrum_mpi:
    case IbmOption::dry_run:
    case IbmOption::as_root:
      return false;
    default:
      return true;
  }
}

// "--accelerators", "-accelerators" and "--accelerators=4" are one.
std::optional<IbmOption> find_ibm_option(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return std::nullopt;
  word.remove_prefix(word[1] == '-' ? 2 : 1);
  word = word.substr(0, word.find('='));
  const auto found = std::find_if(ibm_names.begin(), ibm_names.end(),
                                  [&](const IbmName& known) { return known.name == word; });
  return found == ibm_names.end() ? std::nullopt : std::optional(found->option);
}

// The words of one `-mpiarg "-mca btl_tcp_if_include ib0"`, apart at blanks outside of quotes.
std::vector<std::string> split_mpi_argument(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool any = false;
  for (const char c : text) {
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      any = true;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == ' ' || c == '\t')) {
      if (any) words.push_back(std::exchange(word, {}));
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (quote != 0) {
    throw Error(ErrorKind::usage, {"a quotation mark is not closed", "-mpiarg " + printable(text, 80),
                                   "-mpiarg \"-mca btl_tcp_if_include ib0\""});
  }
  if (any) words.push_back(word);
  return words;
}

// "-mca" and "--mca" are one.
bool is_option(std::string_view word, std::string_view name) {
  return word.starts_with('-') && word.substr(word.starts_with("--") ? 2 : 1) == name;
}

// Open MPI has a parameter of this name too. On IBM's line its value was for the daemons of Spectrum MPI.
constexpr std::string_view rsh_parameter = "plm_rsh_num_concurrent";

// What the options have said so far, as words of `launch`.
class Translation {
 public:
  void take(IbmOption option, const std::string& word, const std::string& value) {
    switch (option) {
      case IbmOption::hosts:
        return add({"-H", value});
      case IbmOption::hostfile:
        return add({"--hostfile", value});
      case IbmOption::accelerators:
        return add({"--ranks-per-host", value});
      case IbmOption::nodes:
        return add({"--hosts-per-rack", value});
      case IbmOption::racks:
        return add({"--racks", value});
      case IbmOption::aisles:
        return add({"--aisles", value});
      case IbmOption::mode:
        mode_ = value;
        return;
      case IbmOption::ddl_argument:
        ddl_arguments_.push_back(value);
        return;
      case IbmOption::no_ddl_options:
        ddl_options_ = false;
        return;
      case IbmOption::rankfile:
        return add({"--rankfile", value});
      case IbmOption::exported:
        return add({"-x", value});
      case IbmOption::mpi_argument:
        return add_mpi_words(split_mpi_argument(value));
      case IbmOption::tcp:
        return add({"--mca", "pml", "ob1", "--mca", "btl", "tcp,self,vader"});
      case IbmOption::verbose:
        return add({"-v"});
      case IbmOption::of_spectrum_mpi:
        return drop(word);
      case IbmOption::dry_run:
        return add({"--dry-run"});
      case IbmOption::as_root:
        return add({"--allow-run-as-root"});
    }
  }

  IbmTranslation result(const EnvVars& environment, const Command& program) && {
    for (const char* name : {"LSB_JOBID", "PYTHONPATH", "LSB_MCPU_HOSTS"}) {
      if (environment.count(name) != 0) add({"-x", name});
    }
    for (const char* name : {"NCCL_LL_THRESHOLD", "NCCL_TREE_THRESHOLD"}) {
      add({"--export-default", fmt::format("{}=0", name)});
    }
    if (ddl_options_) {
      add({"--framework", "ddl", "--ddl-mode", mode_});
      for (const std::string& argument : ddl_arguments_) add({"--ddl-arg=" + argument});
    } else {
      add({"--framework", "none"});
    }
    add({"--"});
    words_.insert(words_.end(), program.begin(), program.end());
    return {std::move(words_), std::move(dropped_)};
  }

 private:
  // launch binds the ranks, so the option for that is its own.
  void add_mpi_words(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool is_binding = is_option(words[i], "bind-to") && i + 1 < words.size();
      if (is_binding) {
        add({"--bind-to", words[++i]});
      } else if (find_ibm_option(words[i]) == IbmOption::of_spectrum_mpi) {
        drop(words[i]);
      } else if (is_option(words[i], "mca") && i + 2 < words.size() && words[i + 1] == rsh_parameter) {
        drop(words[i + 1]);
        i += 2;
      } else {
        add({"--mpi-arg=" + words[i]});
      }
    }
  }
  void drop(const std::string& word) {
    if (std::find(dropped_.begin(), dropped_.end(), word) == dropped_.end()) dropped_.push_back(word);
  }
  void add(std::vector<std::string> words) {
    for (std::string& word : words) words_.push_back(std::move(word));
  }

  Command words_{"launch"};
  std::string mode_ = "p";
  std::vector<std::string> ddl_arguments_, dropped_;
  bool ddl_options_ = true;
};

bool is_ours(const std::string& word, const std::vector<std::string>& our_commands) {
  return std::find(our_commands.begin(), our_commands.end(), word) != our_commands.end();
}

// What stands behind the options; nothing where it is a command of ours.
std::optional<Command> find_ibm_program(const Command& rest, const std::vector<std::string>& our_commands) {
  const bool has_dashes = !rest.empty() && rest[0] == "--";
  const Command program(rest.begin() + (has_dashes ? 1 : 0), rest.end());
  if (!program.empty() && !has_dashes && is_ours(program[0], our_commands)) return std::nullopt;
  constexpr std::string_view example = "ddlrun -H h1,h2 --accelerators 4 -m b python train.py";
  if (program.empty()) {
    throw Error(ErrorKind::usage, {"no program follows the options", "", std::string(example)});
  }
  if (!has_dashes && program[0].starts_with('-')) {
    throw Error(
        ErrorKind::usage,
        {fmt::format("unknown option '{}' of IBM's ddlrun", printable(program[0], 60)), "",
         fmt::format("{}; our options go with launch: ddlrun launch -H h1:4,h2:4 {} -- python train.py",
                     example, printable(program[0], 60))});
  }
  return program;
}

}  // namespace

std::optional<IbmTranslation> translate_ibm_command(const Command& words,
                                                    const std::vector<std::string>& our_commands,
                                                    bool first_is_program, const EnvVars& environment) {
  Translation translation;
  bool any_of_theirs = first_is_program;
  auto at = words.begin();
  for (; at != words.end(); ++at) {
    const auto option = find_ibm_option(*at);
    if (!option) break;
    const bool is_any = *option == IbmOption::verbose || *option == IbmOption::dry_run;
    any_of_theirs = any_of_theirs || !is_any;
    const std::size_t equals = at->find('=');
    if (!takes_value(*option)) {
      translation.take(*option, *at, {});
    } else if (equals != std::string::npos) {
      translation.take(*option, *at, at->substr(equals + 1));
    } else if (at + 1 != words.end()) {
      const std::string& name = *at++;
      translation.take(*option, name, *at);
    } else {
      throw Error(ErrorKind::usage, {fmt::format("{} lacks its value", *at), "the last word",
                                     fmt::format("ddlrun {} VALUE PROGRAM", *at)});
    }
  }
  if (!any_of_theirs) return std::nullopt;
  const auto program = find_ibm_program({at, words.end()}, our_commands);
  if (!program) return std::nullopt;
  return std::move(translation).result(environment, *program);
}

}  // namespace ddlrun::launch
