// SPDX-License-Identifier: MIT
#include "doctor/diagnose/message_parts.hpp"

#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "doctor/diagnose/line_prefix.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_path = 300;
constexpr std::size_t max_advice = 220;
constexpr std::size_t min_advice = 16;

// "a.c:12", "a.c(12)"
bool is_source_place(std::string_view word) {
  const std::size_t mark = word.find_last_of(":(");
  return mark != npos && mark + 1 < word.size() && word[mark + 1] >= '0' && word[mark + 1] <= '9';
}

bool is_path(std::string_view word) {
  if (word.size() < 2 || word.size() > max_path || has(word, "://") || has(word, "->")) return false;
  if (word.find_first_of("*?$|<>;&\"'`") != npos || is_source_place(word)) return false;
  const std::size_t slash = word.find('/');
  return slash != npos && word.find_first_not_of("/.") != npos;
}

// "input.dat", "run_2.nml": a name with letters behind its last dot.
bool is_file_name(std::string_view word) {
  const std::size_t dot = word.rfind('.');
  if (dot == npos || dot == 0 || word.size() > max_path) return false;
  const std::string_view ending = word.substr(dot + 1);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !ending.empty() && ending.size() <= 5 && is_letter(ending.front()) &&
         word.find_first_of("()[]{}<>:;,*?$|&\"'`/\\") == npos;
}

std::string_view without_marks(std::string_view word) {
  while (!word.empty() && has("([{'\"`<", word.substr(0, 1))) word.remove_prefix(1);
  while (!word.empty() && has(")]}'\"`>,;:.!", word.substr(word.size() - 1))) word.remove_suffix(1);
  return word;
}

// The texts in '..', "..", `..' and in typographic quotes.
std::vector<std::string_view> quoted_in(std::string_view text) {
  struct Quotes {
    std::string_view open, close;
  };
  constexpr std::array<Quotes, 5> kinds = {{{"‘", "’"}, {"“", "”"}, {"\"", "\""}, {"`", "'"}, {"'", "'"}}};
  std::vector<std::string_view> all;
  for (const Quotes& kind : kinds) {
    for (std::size_t at = text.find(kind.open); at != npos;) {
      const std::size_t begin = at + kind.open.size(), end = text.find(kind.close, begin);
      if (end == npos) break;
      all.push_back(text.substr(begin, end - begin));
      at = text.find(kind.open, end + kind.close.size());
    }
  }
  return all;
}

// "Use it. Then", "per node.Fatal error", the end of a line.
std::size_t sentence_end(std::string_view text) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    const char next = text[at + 1];
    if (text[at] == '\n' || (has(".!?;", text.substr(at, 1)) && next == ' ')) return at;
    if (text[at] == '.' && is_upper(next) && at > 1 && is_lower(text[at - 1]) && is_lower(text[at - 2]))
      return at;
  }
  return text.size();
}

bool begins_as_advice(std::string_view sentence) {
  constexpr std::string_view beginnings[] = {"Please ",
                                             "please ",
                                             "Try ",
                                             "try ",
                                             "Consider ",
                                             "consider ",
                                             "Make sure ",
                                             "make sure ",
                                             "Ensure ",
                                             "Use ",
                                             "Set ",
                                             "Did you ",
                                             "did you ",
                                             "You can ",
                                             "You may ",
                                             "You must ",
                                             "You should ",
                                             "You need ",
                                             "Run ",
                                             "Install ",
                                             "Increase ",
                                             "Reduce ",
                                             "Specify ",
                                             "To fix ",
                                             "To avoid ",
                                             "To resolve ",
                                             "To use ",
                                             "Perhaps you ",
                                             "Maybe you ",
                                             "Hint: ",
                                             "hint: ",
                                             "HINT: ",
                                             "Suggestion: ",
                                             "Solution: ",
                                             "It is recommended",
                                             "It's recommended",
                                             "We recommend",
                                             "Check ",
                                             "Add ",
                                             "Rerun ",
                                             "Re-run ",
                                             "Upgrade ",
                                             "Update ",
                                             "Choose ",
                                             "Either ",
                                             "If you want ",
                                             "Remove ",
                                             "Delete "};
  return starts_with_any(sentence, beginnings);
}

bool is_advice(std::string_view sentence) {
  constexpr std::array inside = {
      " please ",    " Please ",      "you need to ",  "You need to ",   "you must ",
      "you should ", " try setting ", " try to ",      "consider ",      " recommended to ",
      "make sure ",  "must be set",   "should be set", "need to be set", "has to be set",
      "can be set ", "did you mean",  "Did you mean",  "did you forget", "to be passed",
      "you can ",    "Use `",         "use `",         "use --",         "Use --",
      "try --",      "by setting "};
  // Not about this failure, or nothing that a user can do.
  constexpr std::array others = {
      "report",        "bug",        "more info",    "may or may not",
      ">> allocated",  // only where it is
      "for details",   "see ",       "See ",         "contact",        "TORCH_USE_CUDA_DSA",
      "For debugging", "stacktrace", "Compile with", "the FAQ",        "file an issue",
      "open an issue", "NOTE: ",     "log file",     "ignore",         "warning",
      "wait"};
  if (sentence.size() < min_advice || has_any(sentence, others)) return false;
  return begins_as_advice(sentence) || has_any(sentence, inside);
}

}  // namespace

std::string path_in(std::string_view message) {
  for (const std::string_view text : quoted_in(message)) {
    if (is_path(text)) return std::string(text);
  }
  for (const std::string_view word : split_blanks(message, " \t=")) {
    const std::string_view plain = without_marks(word);
    if (is_path(plain) && (plain.starts_with('/') || plain.starts_with("./") || plain.starts_with("~/")))
      return std::string(plain);
  }
  if (has_any(message,
              {"o such file", "annot open", "an't open", "nable to open", "not open", "rror opening"})) {
    for (const std::string_view word : split_blanks(message, " \t="))
      if (is_file_name(without_marks(word))) return std::string(without_marks(word));
  }
  return "";
}

std::string file_with_line(std::string_view message) {
  const std::vector<std::string_view> words = split_blanks(message, " \t()");
  for (std::size_t i = 0; i + 3 < words.size(); ++i) {
    const bool is_number = words[i + 1].find_first_not_of("0123456789") == npos;
    const bool is_line = (words[i] == "line" || words[i] == "Line") && is_number;
    const std::string_view file = without_marks(words[i + 3]);
    const std::size_t dot = file.rfind('.');
    const bool is_upper = file.size() > 3 && file.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == npos;
    const bool is_name = is_upper || (dot != npos && dot > 0 && dot + 1 < file.size() && !has(file, "://"));
    const bool is_place = words[i + 2] == "of" || words[i + 2] == "in";
    if (is_line && is_place && is_name && file.size() <= max_path) return std::string(file);
  }
  return "";
}

std::string port_in(std::string_view message) {
  constexpr std::string_view digits = "0123456789";
  constexpr std::uint64_t lowest = 1024, highest = 65535;
  for (std::size_t at = message.find_first_of(digits); at != npos;) {
    const std::size_t end = std::min(message.find_first_not_of(digits, at), message.size());
    const std::string_view before = message.substr(0, at), behind = message.substr(end);
    const auto number = parse_unsigned(message.substr(at, end - at), highest);
    const bool of_address =
        before.ends_with("]:") ||
        (before.ends_with(':') && before.size() > 1 && digits.find(before[before.size() - 2]) != npos &&
         has(before.substr(before.find_last_of(" [(") + 1), "."));
    const bool is_port = of_address || before.ends_with("port: ") || before.ends_with("port ") ||
                         (before.ends_with(", ") && behind.starts_with(')')) ||
                         (before.ends_with(':') && behind.starts_with(" (errno"));
    if (number && *number >= lowest && is_port) return std::to_string(*number);
    at = message.find_first_of(digits, end);
  }
  return {};
}

std::string script_in(std::string_view message) {
  std::string_view before;
  while (true) {
    const std::size_t colon = message.find(": ");
    std::string_view part = message.substr(0, colon);
    if (part.starts_with("line ")) part.remove_prefix(5);
    const bool is_line = !part.empty() && part.find_first_not_of("0123456789") == npos;
    if (is_line || message.starts_with("bad interpreter")) break;
    if (colon == npos) return "";
    // "bash: ./run.sh: /bin/sh^M: bad interpreter": the file stands before its interpreter.
    if (!message.substr(colon + 2).starts_with("bad interpreter")) before = part;
    message.remove_prefix(colon + 2);
  }
  const bool is_name = !before.empty() && !before.starts_with('-') && before.size() <= max_path &&
                       before.find_first_of(" \t*?$|<>;&\"'`()") == npos && !is_shell(before);
  return is_name && !has_any(before, {"/spool/", "slurm_script", ".SC"}) ? std::string(before) : "";
}

std::string library_in(std::string_view message) {
  for (const std::string_view word : split_blanks(message, " \t=")) {
    std::string_view plain = without_marks(word);
    plain.remove_prefix(plain.rfind('/') == npos ? 0 : plain.rfind('/') + 1);
    plain = plain.substr(0, plain.find_first_of(":'\","));
    if (plain.starts_with("lib") && has(plain, ".so")) return std::string(plain);
  }
  return "";
}

std::string option_in(std::string_view message) {
  for (const std::string_view word : split_blanks(message, " \t\n=")) {
    const std::string_view plain = without_marks(word);
    const bool is_option = plain.size() > 3 && plain.starts_with("--") &&
                           std::all_of(plain.begin() + 2, plain.end(), is_name_byte) && plain[2] != '-';
    if (is_option) return std::string(plain);
  }
  return "";
}

std::string variable_in(std::string_view message) {
  constexpr std::string_view families[] = {"I_MPI_", "OMPI_MCA_",     "MPICH_",    "NCCL_", "UCX_",  "FI_",
                                           "OMP_",   "KMP_",          "SLURM_",    "PSM2_", "PSM3_", "HYDRA_",
                                           "TORCH_", "CUDA_VISIBLE_", "HSA_",      "ROCR_", "LD_",   "HDF5_",
                                           "PMIX_",  "MASTER_",       "WORLD_SIZE"};
  const bool of_variable = has(message, "nvironment variable") || has(message, "environ[");
  for (const std::string_view word : split_blanks(message, " \t\n=[](){},")) {
    const bool is_used = word.starts_with('$') || word.starts_with("'$") || word.starts_with("\"$");
    std::string_view plain = without_marks(word);
    if (plain.starts_with('$')) plain.remove_prefix(1);
    const bool is_name = plain.size() > 4 &&
                         plain.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == npos &&
                         plain.front() >= 'A' && !has_any(plain, {"ERR", "FAIL", "STATUS", "WARN"});
    if (is_name && (is_used || (of_variable && has(plain, "_")) || starts_with_any(plain, families)))
      return std::string(plain);
  }
  return "";
}

std::string advice_in(std::string_view message) {
  while (!(message = trim(message)).empty()) {
    const std::size_t end = sentence_end(message);
    std::string_view sentence = trim(message.substr(0, end));
    message.remove_prefix(std::min(end + 1, message.size()));
    if (!is_advice(sentence)) continue;
    // "sbatch: error: Please add ...": without what stands before it.
    for (std::size_t at = sentence.find(": "); at != npos; at = sentence.find(": ", at + 2)) {
      if (begins_as_advice(trim(sentence.substr(at + 2))))
        return std::string(trim(sentence.substr(at + 2, max_advice)));
    }
    // "version 16.05 or later: you can use PMIx": what stands before the last colon is no advice.
    const std::size_t colon = sentence.rfind(": ");
    if (colon != npos && is_advice(trim(sentence.substr(colon + 2))))
      sentence = trim(sentence.substr(colon + 2));
    return std::string(trim(sentence.substr(0, max_advice)));
  }
  return "";
}

std::string searchable_part(std::string_view message) {
  constexpr std::size_t least = 12, most = 60;
  std::string_view longest;
  while (!message.empty()) {
    const std::size_t end =
        std::min(message.find_first_of("0123456789'\"`()[]{}<>=:/\\|$*,;"), message.size());
    const std::string_view part = trim(message.substr(0, end));
    if (part.size() > longest.size() && has(part, " ")) longest = part;
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  if (longest.size() < least) return "";
  if (longest.size() > most) longest = longest.substr(0, longest.rfind(' ', most));
  return std::string(longest);
}

}  // namespace ddlrun::diagnose
