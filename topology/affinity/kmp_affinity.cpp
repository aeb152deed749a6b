// SPDX-License-Identifier: MIT
#include "topology/affinity/kmp_affinity.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace ddlrun::affinity {

namespace {

constexpr std::array<std::string_view, 8> types{"compact",  "scatter", "balanced", "explicit",
                                                "disabled", "none",    "logical",  "physical"};
constexpr std::array<std::string_view, 10> flags{"verbose",    "noverbose",   "warnings", "nowarnings",
                                                 "respect",    "norespect",   "reset",    "noreset",
                                                 "duplicates", "noduplicates"};
constexpr std::array<std::string_view, 14> grains{
    "fine",    "thread", "core",        "tile",     "module",   "die",      "socket",
    "package", "node",   "numa_domain", "l1_cache", "l2_cache", "l3_cache", "ll_cache"};

template <typename Table>
bool is_in(const Table& table, std::string_view word) {
  return std::find(table.begin(), table.end(), word) != table.end();
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return result;
}

// Commas within brackets belong to a processor list.
std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  for (std::string& word : words) word = std::string(trim(word));
  return words;
}

// A word that is neither type nor modifier: the nearest thing that was probably meant.
std::string complain(const std::string& word) {
  const std::string bare = word.substr(0, word.find_first_of("=:"));
  if (is_in(types, bare) && bare != word)
    return fmt::format("\"{}\" after {} is not part of the syntax and is ignored", word.substr(bare.size()),
                       bare);
  return fmt::format("\"{}\" is neither a type nor a modifier", word);
}

bool read_modifier(const std::string& word, KmpAffinity& result) {
  if (is_in(flags, word)) return true;
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
  if (name == "proclist") return value.size() > 2 && value.front() == '[' && value.back() == ']';
  if (name != "granularity" && name != "gran") return false;
  result.granularity = value;
  if (!is_in(grains, value)) result.problem = fmt::format("\"{}\" is not a granularity", value);
  return true;
}

void read_word(const std::string& word, KmpAffinity& result) {
  if (word.empty()) {
    result.problem = "an empty word between commas";
  } else if (const auto number = parse_unsigned(word, 1u << 20)) {
    if (result.offset) {
      result.problem = fmt::format("a third number, {}", word);
    } else {
      (result.permute ? result.offset : result.permute) = static_cast<unsigned>(*number);
    }
  } else if (is_in(types, word)) {
    if (!result.type.empty()) result.problem = fmt::format("two types, {} and {}", result.type, word);
    result.type = word;
  } else if (!read_modifier(word, result)) {
    result.problem = complain(word);
  }
}

}  // namespace

KmpAffinity parse_kmp_affinity(std::string_view text) {
  KmpAffinity result;
  bool has_list = false;
  for (const std::string& word : split_words(lower(trim(text)))) {
    has_list = has_list || word.starts_with("proclist=");
    read_word(word, result);
    if (!result.problem.empty()) return result;
  }
  if (result.type == "explicit" && !has_list) result.problem = "explicit without proclist=[...]";
  const bool is_off = result.type == "none" || result.type == "disabled";
  if (is_off && result.permute) result.problem = fmt::format("{} takes no number", result.type);
  return result;
}

}  // namespace ddlrun::affinity
