// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile_fix.hpp"

#include "base/text/text.hpp"
#include "topology/rankfile/rankfile_entry.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

constexpr int largest_rounds = 8;  // one mends what another uncovered: a quoted slot, then its comma
constexpr std::size_t mended_at_once =
    200'000;  // findings of a kind held in memory; the rest comes in the next round

// What to do with lines, by number.
struct LineEdits {
  std::unordered_map<int, std::string> replace;
  std::unordered_map<int, bool> drop;
  int rank_0_line = 0;  // to be moved before the first rank line
  int first_rank_line = 0;
  bool plain_line_ends = false;
};

// A line that holds nothing but things which look blank.
bool looks_blank(std::string_view line) {
  while (!line.empty()) {
    const std::size_t odd = odd_blank_size(line);
    if (odd == 0 && line[0] != ' ' && line[0] != '\t') return false;
    line.remove_prefix(std::max<std::size_t>(odd, 1));
  }
  return true;
}

bool is_same_entry(const RankLine& a, const RankLine& b) {
  return a.rank == b.rank && a.host == b.host && a.slots == b.slots;
}

void drop_repeated_lines(const std::vector<RankLine>& ranks, LineEdits& edits) {
  std::unordered_map<std::uint32_t, const RankLine*> seen;
  std::map<int, int> entries_of_line;
  for (const RankLine& rank : ranks) ++entries_of_line[rank.line];
  for (const RankLine& rank : ranks) {
    const auto [first, is_new] = seen.emplace(rank.rank, &rank);
    if (!is_new && is_same_entry(*first->second, rank) && entries_of_line[rank.line] == 1)
      edits.drop[rank.line] = true;
  }
}

LineEdits plan_edits(std::string_view text, const std::vector<RankfileFinding>& findings) {
  LineEdits edits;
  bool duplicates = false;
  bool move_rank_0 = false;
  for (const RankfileFinding& finding : findings) {
    if (finding.id == "crlf") {
      edits.plain_line_ends = true;
    } else if (finding.id == "duplicate-rank") {
      duplicates = true;
    } else if (finding.id == "rank-0-not-first") {
      move_rank_0 = true;
      edits.rank_0_line = finding.line;
    } else if (!finding.corrected.empty()) {
      edits.replace.emplace(finding.line, finding.corrected);
    }
    if (finding.id == "odd-blank" && finding.corrected.empty()) edits.replace.emplace(finding.line, "");
  }
  if (!duplicates && !move_rank_0) return edits;
  const std::vector<RankLine> ranks = parse_rank_lines(text);
  if (duplicates) drop_repeated_lines(ranks, edits);
  if (move_rank_0 && !ranks.empty()) edits.first_rank_line = ranks.front().line;
  return edits;
}

std::string edited_line(const SourceLine& line, const LineEdits& edits) {
  std::string_view raw = line.raw;
  if (edits.plain_line_ends && raw.ends_with('\r')) raw.remove_suffix(1);
  const auto replaced = edits.replace.find(line.number);
  if (replaced == edits.replace.end()) return std::string(raw);
  if (!replaced->second.empty()) return replaced->second;
  return looks_blank(raw) ? std::string() : std::string(raw);
}

std::string apply_edits(std::string_view text, const LineEdits& edits) {
  std::string result;
  result.reserve(text.size() + 64);
  std::size_t first_rank_at = 0;
  std::string rank_0;
  LineReader reader(text);
  while (const auto line = reader.next()) {
    if (edits.drop.contains(line->number)) continue;
    if (line->number == edits.first_rank_line) first_rank_at = result.size();
    const std::string edited = edited_line(*line, edits) + '\n';
    if (line->number == edits.rank_0_line && edits.first_rank_line != 0) {
      rank_0 = edited;
    } else {
      result += edited;
    }
  }
  return result.insert(first_rank_at, rank_0);
}

}  // namespace

FixedRankfile fix_rankfile(std::string_view text, const CheckContext& context) {
  CheckContext all = context;
  all.limit_of_a_kind = mended_at_once;
  FixedRankfile fixed{std::string(text), {}};
  for (int round = 0; round < largest_rounds; ++round) {
    fixed.remaining = check_rankfile(fixed.text, all);
    std::string next = apply_edits(fixed.text, plan_edits(fixed.text, fixed.remaining));
    if (next == fixed.text) return fixed;
    fixed.text = std::move(next);
  }
  fixed.remaining = check_rankfile(fixed.text, all);
  return fixed;
}

}  // namespace ddlrun::rankfile
