// SPDX-License-Identifier: MIT
// Typed getters over JobSettings. A value is a text until its key requests something else, so that `no`,
// `022` and `1.10` stay what was written. Each refusal adds one error; nothing is thrown.
#pragma once

#include "schedulers/job/job_spec.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

// One text of a setting, with its place.
struct PlacedText {
  std::string text;
  std::string where;
};

// A value as messages name it: '4x2', printable, not long.
std::string shown(std::string_view text);

// What a name may consist of, for is_name().
enum class NameKind {
  job,       // ^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$
  plain,     // ^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$: queue, account, ...
  module,    // conda/intel_caffe_1.1.5
  resource,  // knl&flat, host=n1
  variable,  // of an environment
  job_id,    // 123, 15_3, 3[].server
};
bool is_name(NameKind kind, std::string_view text);
std::string_view alphabet_of(NameKind kind);  // for people

// "64GiB", "512M" -> bytes; K, M, G, T with or without iB or B, always powers of 1024, as PBS and Slurm mean.
std::optional<std::uint64_t> parse_memory(std::string_view text);

// The words of a program line, without the shell's expansions; `error` is the reason if there are none.
struct ShellWords {
  std::vector<std::string> words;
  std::string error;
};
ShellWords split_shell_words(std::string_view line);

class SettingReader {
 public:
  SettingReader(const JobSettings& settings, std::vector<Message>& errors)
      : settings_(settings), errors_(errors) {}

  const Setting* find(std::string_view key) const;
  std::string origin_of(std::string_view key) const;  // "" where it is not set
  void add_error(std::string_view key, std::string what, std::string_view example);
  void add_error_at(std::string what, std::string where, std::string hint);
  // The remedy is "leave out KEY, or INSTEAD".
  void leave_out(std::string_view key, std::string what, std::string_view instead);

  // Nothing where the key is not set or was refused.
  std::optional<std::string> text(std::string_view key, std::string_view example);
  std::string name(std::string_view key, NameKind kind, std::string_view example);
  std::optional<std::uint32_t> number(std::string_view key, std::uint32_t least, std::uint32_t most,
                                      std::string_view example);
  std::optional<bool> yes_no(std::string_view key);
  // The index of the word in `choices`.
  std::optional<std::size_t> choice(std::string_view key, std::span<const std::string_view> choices);
  std::optional<std::uint64_t> seconds(std::string_view key);
  // An absolute path; a relative one is taken from `base`, if that is known.
  std::string path(std::string_view key, const std::string& base, std::string_view example);
  // One text or a list of them; blank ones are refused.
  std::vector<PlacedText> texts(std::string_view key, std::string_view example);
  // The fields of a mapping, each one text; a field that is not in `known` is refused.
  void known_fields(std::string_view key, const YamlValue& value, std::span<const std::string> known);
  std::optional<PlacedText> field(std::string_view key, const Setting& setting, std::string_view name,
                                  std::string_view example);
  // "" after a refusal.
  std::string checked_path(std::string_view key, const PlacedText& written, const std::string& base);
  std::optional<std::uint32_t> checked_number(std::string_view key, const PlacedText& written,
                                              std::uint32_t least, std::uint32_t most,
                                              std::string_view example);

  // What to type, in the form of the place that it came from: "walltime: 4h", "--walltime 4h", "4x2x1".
  std::string hint(std::string_view key, std::string_view example) const;

 private:
  const JobSettings& settings_;
  std::vector<Message>& errors_;
};

}  // namespace ddlrun::schedulers
