// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/utf8.hpp"
#include "schedulers/job/script_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

bool is_plain_text(std::string_view word) {
  return is_utf8(word) && std::none_of(word.begin(), word.end(),
                                       [](char c) { return is_control(static_cast<unsigned char>(c)); });
}

// Everything but printable ASCII as three octal digits: no bash takes a digit more or less.
std::string escaped_word(std::string_view word) {
  std::string text = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      text += "\\n";
    else if (c == '\'' || c == '\\')
      text += std::string("\\") + c;
    else if (is_control(byte) || byte >= 0x80)
      text += fmt::format("\\{:03o}", byte);
    else
      text += c;
  }
  return text + "'";
}

// Variables that bash itself sets, computes or keeps from being set.
constexpr std::array bash_owned{
    "BASH",          "BASHOPTS",     "BASHPID",         "BASH_ALIASES", "BASH_ARGC",     "BASH_ARGV",
    "BASH_ARGV0",    "BASH_CMDS",    "BASH_COMMAND",    "BASH_LINENO",  "BASH_SOURCE",   "BASH_SUBSHELL",
    "BASH_VERSINFO", "BASH_VERSION", "COMP_WORDBREAKS", "DIRSTACK",     "EPOCHREALTIME", "EPOCHSECONDS",
    "EUID",          "FUNCNAME",     "GROUPS",          "HISTCMD",      "LINENO",        "PPID",
    "RANDOM",        "SECONDS",      "SHELLOPTS",       "SRANDOM",      "UID",           "_",
    "IFS",           "OPTIND",       "OPTARG",          "PIPESTATUS"};

}  // namespace

std::string shell_word(std::string_view word) {
  if (word.find('\0') != std::string_view::npos) {
    throw Error(ErrorKind::request, {"a word holds a NUL byte, which no argument of a program can",
                                     printable(word, 60), "the word without it, or a file that holds it"});
  }
  return is_plain_text(word) ? quote_shell(word) : escaped_word(word);
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string variable_name(std::string_view entry) {
  const std::string_view name = entry.substr(0, entry.find('='));
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 128 || !is_letter(name[0]) ||
      !std::all_of(name.begin(), name.end(), is_allowed)) {
    throw Error(ErrorKind::request, {fmt::format("'{}' is no name of a variable", printable(name, 60)),
                                     "environment", "letters, digits and _, a letter first: NCCL_DEBUG"});
  }
  const bool is_ours = name.starts_with("ddl_") || name == "DDLRUN_RESTARTS" ||
                       name == "DDLRUN_RESTART_COUNT" || name == "DDLRUN_JOB_ID" ||
                       name == "DDLRUN_ARRAY_INDEX";
  if (is_ours || std::find(bash_owned.begin(), bash_owned.end(), name) != bash_owned.end()) {
    throw Error(ErrorKind::request,
                {fmt::format("{} is set by {}", name, is_ours ? "the job script itself" : "bash itself"),
                 "environment", "another name"});
  }
  return std::string(name);
}

}  // namespace ddlrun::schedulers
