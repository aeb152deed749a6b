// SPDX-License-Identifier: MIT
// Small text functions that every room needs: strict numbers, splitting, quoting, "did you mean".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

// A whole non-empty run of ASCII digits without sign, blank or base prefix; nothing if it exceeds `max`.
std::optional<std::uint64_t> parse_unsigned(std::string_view text, std::uint64_t max = UINT64_MAX);

// Seconds of "30m", "12h", "90d", "2w"; nothing for any other form.
std::optional<std::int64_t> parse_age(std::string_view text);

// A whole text that is a finite number: "0.5", "-1e-3"; no sign "+", no blanks.
std::optional<double> parse_number(std::string_view text);

// "a,b,,c" -> {"a", "b", "", "c"}; "" -> {""}.
std::vector<std::string_view> split(std::string_view text, char separator);
// "a  b" -> {"a", "b"}: the words between any number of blanks.
std::vector<std::string_view> split_blanks(std::string_view text, std::string_view blanks = " \t\r");
std::string join(std::span<const std::string> words, std::string_view separator);
// "a, b and 3 more": at most the first `most` words.
std::string join_first(std::span<const std::string> words, std::size_t most,
                       std::string_view separator = ", ");
// Without leading and trailing blanks, tabs, CR and LF.
std::string_view trim(std::string_view text);

// `beginnings`: an array or a list of texts.
bool starts_with_any(std::string_view text, std::span<const std::string_view> beginnings);
bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings);

// ASCII letters only, in every locale.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);

// "1 GPU", "4 GPUs"
std::string count_of(std::uint64_t number, std::string_view thing);

// What follows the last slash: "/a/b" -> "b"; "b" -> "b"; "/a/" -> "".
std::string_view base_name(std::string_view path);

// "runs/train.py" -> "runs", "train.py" -> ".", "/train.py" -> "/"
std::string directory_of(std::string_view path);

// One shell word that bash reads back as exactly `word`; left bare where that is safe.
std::string quote_shell(std::string_view word);
// argv as one line that can be pasted into a shell.
std::string render_shell(std::span<const std::string> words);

// {"env", "-u", NAME, ...} in front of a command that must not see the variables; {} without names.
std::vector<std::string> env_without(std::span<const std::string> names);

// User text made safe to print in one line: control bytes as \xNN, at most `limit` bytes, then "...".
std::string printable(std::string_view text, std::size_t limit = 200);

// Edits from one word to the other; a swap of neighbours counts as one.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate within a third of its length in edits (swaps count as one); else the only one that contains a
// word of 4 letters or more; else nothing.
std::optional<std::string> closest_match(std::string_view word, std::span<const std::string> candidates);

// Whether the name fits a pattern in which each * means any letters, or none.
bool matches_pattern(std::string_view pattern, std::string_view name);

// The place of `word` from `from` on where no letter, digit, _ or $ precedes or follows it; npos if there is
// none.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0);
// Each such place replaced.
std::string replace_word(std::string text, std::string_view word, std::string_view by);

// A size for people, in powers of 1024: "64 KiB", "15.9 GiB", "0 bytes".
std::string render_bytes(std::uint64_t bytes);

// Integers as ranges: {0,1,2,5} -> "0-2,5"; the input must ascend.
std::string render_ranges(std::span<const int> ascending, std::string_view separator = ",");
// "0-2,5" -> {0,1,2,5}; nothing if it is malformed, descends, or names a number above `max`.
std::optional<std::vector<int>> parse_ranges(std::string_view text, int max);

}  // namespace ddlrun
