// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile_entry.hpp"

#include "base/text/text.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

struct OddBlank {
  std::string_view bytes;
  std::string_view name;
};
// clang-format off
constexpr std::array<OddBlank, 19> odd_blanks{{
    {"\xC2\xA0", "U+00A0, a no-break space"},          {"\xEF\xBB\xBF", "U+FEFF, a byte order mark"},
    {"\xE2\x80\xAF", "U+202F, a narrow no-break space"}, {"\xE3\x80\x80", "U+3000, an ideographic space"},
    {"\xE2\x80\x8B", "U+200B, a zero-width space"},    {"\xE2\x80\x83", "U+2003, an em space"},
    {"\xE2\x80\x82", "U+2002, an en space"},           {"\xE2\x80\x80", "U+2000, an en quad"},
    {"\xE2\x80\x81", "U+2001, an em quad"},            {"\xE2\x80\x84", "U+2004, a third of an em space"},
    {"\xE2\x80\x85", "U+2005, a quarter of an em space"}, {"\xE2\x80\x86", "U+2006, a sixth of an em space"},
    {"\xE2\x80\x87", "U+2007, a figure space"},        {"\xE2\x80\x88", "U+2008, a punctuation space"},
    {"\xE2\x80\x89", "U+2009, a thin space"},          {"\xE2\x80\x8A", "U+200A, a hair space"},
    {"\xE2\x81\x9F", "U+205F, a mathematical space"},  {"\xC2\x85", "U+0085, a next-line mark"},
    {"\r", "a carriage return"},
}};
// clang-format on

const OddBlank* odd_blank(std::string_view text) {
  if (text.empty()) return nullptr;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first != '\r' && first < 0x80) return nullptr;
  const auto found = std::find_if(odd_blanks.begin(), odd_blanks.end(),
                                  [text](const OddBlank& blank) { return text.starts_with(blank.bytes); });
  return found == odd_blanks.end() ? nullptr : &*found;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v'; }

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x) == y;
         });
}

struct Word {
  std::string_view text;
  std::size_t offset = 0;
  bool equals = false;  // the sign '='
  bool quoted = false;
};

// Cuts a piece into words and reads them as one entry.
class EntryReader {
 public:
  explicit EntryReader(std::string_view piece) : piece_(piece) { words_.reserve(8); }

  RankEntry read() {
    cut_words();
    if (words_.empty()) return std::move(entry_);
    entry_.blank = false;
    if (read_rank() && read_host() && read_slot_word()) read_slots();
    return std::move(entry_);
  }

 private:
  void problem(std::string_view id, std::size_t offset, std::string what, std::string hint,
               Severity severity = Severity::error) {
    entry_.problems.push_back({std::string(id), severity, offset, std::move(what), std::move(hint), true});
  }
  bool fail_line(std::string_view id, std::size_t offset, std::string what, std::string hint) {
    entry_.problems.push_back(
        {std::string(id), Severity::error, offset, std::move(what), std::move(hint), false});
    return false;
  }

  void cut_words() {
    for (std::size_t i = 0; i < piece_.size();) {
      const std::string_view here = piece_.substr(i);
      if (is_blank(here[0])) {
        ++i;
      } else if (const OddBlank* blank = odd_blank(here)) {
        report_odd_blank(*blank, i);
        i += blank->bytes.size();
      } else if (here[0] == '=') {
        words_.push_back({here.substr(0, 1), i++, true, false});
      } else if (here[0] == '"') {
        i += cut_quoted(here, i);
      } else {
        std::size_t end = 1;
        while (end < here.size() && !ends_word(here.substr(end))) ++end;
        words_.push_back({here.substr(0, end), i, false, false});
        i += end;
      }
    }
  }

  static bool ends_word(std::string_view text) {
    return is_blank(text[0]) || text[0] == '=' || text[0] == '"' || odd_blank(text) != nullptr;
  }

  void report_odd_blank(const OddBlank& blank, std::size_t offset) {
    const bool mark = blank.bytes == "\xEF\xBB\xBF";
    problem(mark ? "byte-order-mark" : "odd-blank", offset,
            fmt::format("{}, stands here: it looks like nothing or a blank, to Open MPI it is a syntax error",
                        blank.name),
            mark ? "save the file as UTF-8 without a byte order mark" : "put a plain blank in its place");
  }

  std::size_t cut_quoted(std::string_view here, std::size_t offset) {
    const auto close = here.find('"', 1);
    const std::size_t size = close == std::string_view::npos ? here.size() : close + 1;
    const std::string_view inside = here.substr(1, size - (close == std::string_view::npos ? 1 : 2));
    const bool plain = !inside.empty() && close != std::string_view::npos &&
                       inside.find_first_of(" \t=\"#\r") == std::string_view::npos;
    entry_.problems.push_back({"quoted-text", Severity::error, offset,
                               "Open MPI refuses quoted text in a rankfile", "leave the quotes out", plain});
    words_.push_back({inside, offset, false, true});
    return size;
  }

  const Word* peek(std::size_t ahead = 0) const {
    return at_ + ahead < words_.size() ? &words_[at_ + ahead] : nullptr;
  }
  // Where the reader stands, or behind the last word.
  std::size_t offset() const { return peek() ? peek()->offset : piece_.size(); }

  bool is_word(std::size_t ahead, std::string_view text) const {
    const Word* word = peek(ahead);
    return word && !word->equals && equal_but_for_case(word->text, text);
  }
  void check_case(const Word& word, std::string_view text) {
    if (word.text == text) return;
    problem("keyword-case", word.offset,
            fmt::format("\"{}\" is not a word of the rankfile language, which is written in lower case",
                        word.text),
            fmt::format("write {}", text));
  }

  bool read_rank() {
    if (is_word(0, "rank")) {
      check_case(*peek(), "rank");
      ++at_;
      return read_rank_number();
    }
    const std::string_view first = peek()->text;
    if (first.size() > 4 && equal_but_for_case(first.substr(0, 4), "rank") &&
        first.find_first_not_of("0123456789", 4) == std::string_view::npos) {
      problem("rank-not-separated", peek()->offset,
              fmt::format("\"{}\" is read as one word", printable(first, 40)),
              "put a blank between rank and its number");
      words_[at_] = {first.substr(4), peek()->offset + 4, false, false};
      return read_rank_number();
    }
    return fail_line("not-a-rank-line", peek()->offset,
                     fmt::format("the line begins with \"{}\", not with rank", printable(first, 40)),
                     "every line is rank N=HOST slot=CORES, blank, or a comment");
  }

  bool read_rank_number() {
    const Word* word = peek();
    if (!word || word->equals || word->text.find_first_not_of("0123456789") != std::string_view::npos ||
        word->text.empty()) {
      return fail_line("bad-rank-number", offset(),
                       fmt::format("\"{}\" is where the rank number must be",
                                   word ? printable(word->text, 40) : std::string("nothing")),
                       "write rank N=HOST slot=CORES, N counting from 0");
    }
    const auto number = parse_unsigned(word->text, max_ranks - 1);
    if (!number) {
      return fail_line(
          "rank-number-too-large", word->offset,
          fmt::format("rank {} is larger than {}, the largest that is possible; from 2147483648 on "
                      "numbers wrap around in mpirun",
                      printable(word->text, 24), max_ranks - 1),
          "number the ranks from 0 without holes");
    }
    entry_.rank = static_cast<std::uint32_t>(*number);
    ++at_;
    return true;
  }

  void expect_equals(std::string_view behind) {
    if (peek() && peek()->equals) {
      ++at_;
      return;
    }
    problem("missing-equals", offset(), fmt::format("there is no '=' after {}", behind),
            "write rank N=HOST slot=CORES");
  }

  bool read_host() {
    expect_equals("the rank's number");
    const Word* word = peek();
    const bool slot_comes = (is_word(0, "slot") || is_word(0, "slots")) && peek(1) && peek(1)->equals;
    if (!word || word->equals || (slot_comes && !second_slot_word())) {
      return fail_line(
          "no-host", offset(),
          fmt::format("rank {} has no host; mpirun dies of this with a segmentation fault", *entry_.rank),
          "write rank N=HOST slot=CORES; // begins a comment, even inside a name");
    }
    entry_.host = word->text;
    entry_.host_offset = word->offset + (word->quoted ? 1 : 0);
    ++at_;
    return true;
  }
  // "rank 0=slot slot=0": then the first one is a name.
  bool second_slot_word() const {
    for (std::size_t i = 1; peek(i); ++i) {
      if ((is_word(i, "slot") || is_word(i, "slots")) && peek(i + 1) && peek(i + 1)->equals) return true;
      if (is_word(i, "rank")) return false;
    }
    return false;
  }

  bool read_slot_word() {
    const Word* word = peek();
    if (!word || is_word(0, "rank")) {
      return fail_line(
          "no-slot", offset(),
          fmt::format("rank {} has no slot=; Open MPI 4 refuses that and garbles the message, 5.0.7 refuses "
                      "it without a message",
                      *entry_.rank),
          "append slot=PACKAGE:FIRST-LAST, as in slot=0:0-3");
    }
    if (is_word(0, "slots")) {
      check_case(*word, "slots");
      problem("slots-keyword", word->offset, "slots= is read as slot= here, but means a count in a hostfile",
              "write slot=", Severity::warning);
    } else if (is_word(0, "slot")) {
      check_case(*word, "slot");
    } else {
      return fail_line("unexpected-text", word->offset,
                       fmt::format("\"{}\" is where slot= must be", printable(word->text, 40)),
                       "write rank N=HOST slot=CORES and nothing between");
    }
    entry_.slot_word_offset = word->offset;
    ++at_;
    expect_equals("slot");
    return true;
  }

  void read_slots() {
    const Word* word = peek();
    if (!word || word->equals || is_word(0, "rank")) {
      fail_line("no-slot", offset(), fmt::format("nothing follows rank {}'s slot=", *entry_.rank),
                "write the cores, as in slot=0:0-3");
      return;
    }
    entry_.slots = word->text;
    entry_.slots_offset = word->offset + (word->quoted ? 1 : 0);
    ++at_;
    if (peek()) read_behind_slots();
  }

  // Open MPI looks at nothing behind the value: more cores, a second entry and garbage are lost silently.
  void read_behind_slots() {
    const Word& first = *peek();
    if (is_word(0, "rank")) {
      entry_.next_entry = piece_.substr(first.offset);
      problem("two-entries", first.offset,
              "a second entry in the same line: Open MPI counts one rank a line and loses it",
              "put each rank on a line of its own");
      return;
    }
    std::string joined = entry_.slots;
    bool slot_like = true;
    for (; peek() && !is_word(0, "rank"); ++at_) {
      const Word& word = *peek();
      slot_like = slot_like && !word.equals &&
                  word.text.find_first_not_of("0123456789:;,-*") == std::string_view::npos;
      joined += word.text;
    }
    // "0:0 1:0" joined would be another number: a separator must stand on one side of each gap.
    const bool joins = slot_like && entry_.next_entry.empty() && !peek() && separated(first);
    if (joins) {
      problem(
          "blank-in-slots", first.offset,
          fmt::format("a blank ends the value: Open MPI binds rank {} to {} only and ignores \"{}\" silently",
                      *entry_.rank, printable(entry_.slots, 64), printable(piece_.substr(first.offset), 40)),
          fmt::format("write slot={}", printable(joined, 200)));
      entry_.slots = std::move(joined);
      return;
    }
    fail_line("text-after-slots", first.offset,
              fmt::format("\"{}\" after the cores is ignored silently, or refused",
                          printable(piece_.substr(first.offset), 40)),
              "end the line after the cores; comments begin with #");
  }

  bool separated(const Word& first) const {
    constexpr std::string_view separators = ":;,-";
    const auto is_separator = [&](char c) { return separators.find(c) != std::string_view::npos; };
    for (std::size_t i = 1; i < words_.size(); ++i) {
      if (words_[i].offset < first.offset || words_[i - 1].text.empty() || words_[i].text.empty()) continue;
      if (!is_separator(words_[i - 1].text.back()) && !is_separator(words_[i].text.front())) return false;
    }
    return true;
  }

  std::string_view piece_;
  std::vector<Word> words_;
  std::size_t at_ = 0;
  RankEntry entry_;
};

}  // namespace

std::string_view odd_blank_name(std::string_view text) {
  const OddBlank* blank = odd_blank(text);
  return blank ? blank->name : std::string_view();
}

std::size_t odd_blank_size(std::string_view text) {
  const OddBlank* blank = odd_blank(text);
  return blank ? blank->bytes.size() : 0;
}

RankEntry read_entry(std::string_view piece) { return EntryReader(piece).read(); }

}  // namespace ddlrun::rankfile
