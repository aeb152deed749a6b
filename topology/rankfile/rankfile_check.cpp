// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile_check.hpp"

#include "base/text/printable_path.hpp"
#include "base/text/text.hpp"
#include "topology/rankfile/rankfile_entry.hpp"
#include "topology/rankfile/rankfile_names.hpp"
#include "topology/rankfile/rankfile_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

constexpr std::size_t largest_entry = 63;  // Open MPI copies "HOST slot=SLOTS" into 64 bytes
constexpr std::size_t slot_cache_size = 1u << 16;
constexpr std::size_t largest_uses = 8u << 20;  // core ranges held for the search for overlaps

// How many columns of blanks stand in `text`, which holds nothing else; marks without width count as none.
std::size_t blank_columns(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const std::size_t odd = odd_blank_size(text);
    const bool no_width = text.starts_with("\r") || text.starts_with("\"") ||
                          text.starts_with("\xE2\x80\x8B") || text.starts_with("\xEF\xBB\xBF");
    columns += no_width ? 0 : 1;
    text.remove_prefix(std::max<std::size_t>(odd, 1));
  }
  return columns;
}

class RankfileChecker {
 public:
  explicit RankfileChecker(const CheckContext& context) : context_(context) {}

  std::vector<RankfileFinding> check(std::string_view text) {
    LineReader reader(text);
    while (const auto line = reader.next()) check_line(*line);
    report_line_ends();
    if (reader.open_comment() != 0) {
      add({"open-comment", Severity::error, reader.open_comment(), 0,
           "a comment /* begins here and never ends: Open MPI ignores all the rest silently",
           "end it with */, or begin each line with #", ""});
    }
    if (facts_.uses.size() > largest_uses) {
      add({"overlaps-not-searched", Severity::note, 0, 0,
           fmt::format("more than {} core ranges: overlaps were searched for among the first ones only",
                       largest_uses),
           "write each rank's cores as one range", ""});
    }
    for (RankfileFinding& finding : check_facts(std::move(facts_), context_)) add(std::move(finding));
    report_left_out();
    std::stable_sort(findings_.begin(), findings_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    return std::move(findings_);
  }

 private:
  void add(RankfileFinding finding) {
    if (++counts_[finding.id] <= context_.limit_of_a_kind) findings_.push_back(std::move(finding));
  }

  void report_left_out() {
    for (const auto& [id, count] : counts_) {
      if (count <= context_.limit_of_a_kind) continue;
      findings_.push_back(
          {id, Severity::error, facts_.last_line, 0,
           fmt::format("{} more findings of this kind are not listed", count - context_.limit_of_a_kind),
           "mend those above first", ""});
    }
  }

  void report_line_ends() {
    if (crlf_lines_ == 0) return;
    add({"crlf", Severity::error, first_crlf_line_, 0,
         fmt::format("{} line{} with CR LF, as on Windows: Open MPI refuses the file as invalid syntax",
                     crlf_lines_, crlf_lines_ == 1 ? " ends" : "s end"),
         "ddlrun check-rankfile --fix FILE, or dos2unix", first_crlf_text_});
  }

  void check_line(const SourceLine& line) {
    facts_.last_line = line.number;
    facts_.header.add_comment(line.comment, line.number);
    line_findings_.clear();
    line_mendable_ = true;
    check_line_end(line);
    std::size_t code_bytes = 0;
    for (const std::string_view piece : line.pieces) code_bytes += piece.size();
    if (code_bytes > max_rank_line_bytes) {
      add({"line-too-long", Severity::error, line.number, 0,
           fmt::format("the line has {} bytes, a rank line never needs more than {}", code_bytes,
                       max_rank_line_bytes),
           "write rank N=HOST slot=CORES and nothing else", ""});
      return;
    }
    finish_line(line, mend_pieces(line));
  }

  void check_line_end(const SourceLine& line) {
    if (line.ends_in_cr) {
      if (crlf_lines_++ == 0) {
        first_crlf_line_ = line.number;
        first_crlf_text_ = std::string(line.raw.substr(0, line.raw.size() - 1));
      }
    }
    if (line.has_newline) return;
    if (!line.comment.empty()) {
      line_findings_.push_back(
          {"comment-without-newline", Severity::error, line.number, line.column_of(line.comment),
           "the file ends in a comment without a newline: Open MPI reports a parse error, of "
           "the hostfile",
           "end the last line with a newline", ""});
    } else if (!line.pieces.empty()) {
      line_findings_.push_back({"no-final-newline", Severity::note, line.number, 0,
                                "the last line has no newline; Open MPI takes it all the same",
                                "end the last line with a newline", ""});
    }
  }

  // Checks every piece; the line's entries put right, one a line.
  std::string mend_pieces(const SourceLine& line) {
    if (line.has_block_comment && line.pieces.size() > 1) {
      if (auto mended = mend_torn_entry(line)) return *mended;
    }
    std::string all;
    for (const std::string_view piece : line.pieces) {
      for (std::string_view rest = piece; !rest.empty();) {
        const RankEntry entry = read_entry(rest);
        const std::string mended = check_entry(line, rest, entry);
        if (!mended.empty()) all += (all.empty() ? "" : "\n") + mended;
        rest = entry.next_entry;
      }
    }
    return all;
  }

  // "rank 0=h /* why */ slot=0:0": Open MPI ends the entry at the comment.
  std::optional<std::string> mend_torn_entry(const SourceLine& line) {
    std::string whole;
    bool torn = false;
    for (const std::string_view piece : line.pieces) {
      const RankEntry entry = read_entry(piece);
      torn = torn || (!entry.blank && !entry.complete());
      whole += std::string(piece) + ' ';
    }
    const RankEntry joined = read_entry(whole);
    if (!torn || !joined.complete() || !joined.next_entry.empty() || !joined.problems.empty())
      return std::nullopt;
    const auto host_at = line.raw.find(joined.host);
    if (host_at == std::string_view::npos) return std::nullopt;
    const std::uint32_t host = count_host(line.raw.substr(host_at, joined.host.size()), line.number);
    facts_.entries.push_back({*joined.rank, host, line.number});
    line_findings_.push_back(
        {"block-comment-in-entry", Severity::error, line.number, 0,
         "Open MPI takes a comment /* */ for the end of a line, so this entry is cut in two",
         "put the comment after the entry", ""});
    return fmt::format("rank {}={} slot={}", *joined.rank, joined.host, joined.slots);
  }

  // The entry put right; what cannot be decided clears line_mendable_.
  std::string check_entry(const SourceLine& line, std::string_view piece, const RankEntry& entry) {
    const int base = line.column_of(piece);
    const auto column = [base](std::size_t offset) { return base + static_cast<int>(offset); };
    for (const EntryProblem& problem : entry.problems) {
      line_findings_.push_back({problem.id, problem.severity, line.number, column(problem.offset),
                                problem.what, problem.hint, ""});
      line_mendable_ = line_mendable_ && problem.mendable;
    }
    if (entry.blank || !entry.rank || entry.host.empty()) return "";
    std::string host(entry.host);
    if (const auto problem = check_host_name(entry.host, context_.mpi_major)) {
      line_findings_.push_back({problem->id, problem->severity, line.number, column(entry.host_offset),
                                problem->what, problem->hint, ""});
      if (!problem->corrected.empty()) host = problem->corrected;
      if (problem->corrected.empty() && problem->severity == Severity::error) line_mendable_ = false;
    }
    const std::uint32_t host_index = count_host(entry.host, line.number);
    facts_.entries.push_back({*entry.rank, host_index, line.number});
    if (entry.slots.empty()) return "";
    std::string slots = check_slot_list(line, entry, host_index, column(entry.slots_offset));
    const std::size_t host_end = entry.host_offset + entry.host.size();
    std::size_t pad = 1;
    if (entry.slot_word_offset > host_end) {
      pad = blank_columns(piece.substr(host_end, entry.slot_word_offset - host_end));
    }
    return fmt::format("rank {}={}{}slot={}", *entry.rank, host,
                       std::string(std::max<std::size_t>(pad, 1), ' '), slots);
  }

  // Counts a rank on its host and checks whether the name folds into another one.
  std::uint32_t count_host(std::string_view written, int line) {
    const auto at = written.rfind('@');
    const std::string_view name = at == std::string_view::npos ? written : written.substr(at + 1);
    const std::string_view folded = is_relative_name(name) ? name : folded_name(name);
    const auto next = static_cast<std::uint32_t>(facts_.hosts.size());
    const auto [found, is_new] = facts_.host_of_folded.emplace(folded, next);
    if (is_new) {
      const MachineTopology* machine = context_.machine_of ? context_.machine_of(name) : nullptr;
      facts_.hosts.push_back({name, folded, machine, 0, line});
    }
    auto& host = facts_.hosts[found->second];
    ++host.ranks;
    if (host.name != name && folds_reported_.emplace(name, line).second) report_fold(host, name, line);
    return found->second;
  }

  void report_fold(const RankfileFacts::Host& host, std::string_view name, int line) {
    const bool sure =
        host.name.find('.') != std::string_view::npos && name.find('.') != std::string_view::npos;
    line_findings_.push_back(
        {"names-fold", sure ? Severity::error : Severity::warning, line, 0,
         fmt::format("{} and {} (line {}) are one host, {}, to Open MPI, which cuts names at the first dot",
                     printable(name, 64), printable(host.name, 64), host.first_line,
                     printable(host.folded, 64)),
         "use names that differ before the first dot, or mpirun --mca orte_keep_fqdn_hostnames 1", ""});
  }

  // Checks the cores; returns them put right.
  std::string check_slot_list(const SourceLine& line, const RankEntry& entry, std::uint32_t host_index,
                              int column) {
    const auto& host = facts_.hosts[host_index];
    const SlotReading& reading = read_cached(entry.slots, host.machine);
    std::string slots = entry.slots;
    for (const SlotProblem& problem : reading.problems) {
      line_findings_.push_back({problem.id, problem.severity, line.number,
                                column + static_cast<int>(problem.offset),
                                fmt::format("rank {}: {}", *entry.rank, problem.what), problem.hint, ""});
      if (problem.corrected.empty()) {
        line_mendable_ = false;
      } else {
        slots = problem.corrected;
      }
    }
    count_uses(reading, host_index, *entry.rank, line.number, host.machine != nullptr);
    return check_length(line, entry, host.folded, reading, std::move(slots));
  }

  std::string check_length(const SourceLine& line, const RankEntry& entry, std::string_view folded,
                           const SlotReading& reading, std::string slots) {
    const std::size_t size = folded.size() + 6 + entry.slots.size();
    if (size > largest_entry) {
      line_findings_.push_back(
          {"entry-over-63-bytes", Severity::error, line.number, 0,
           fmt::format(
               "rank {}: host ({}) + \" slot=\" (6) + cores ({}) = {} bytes, Open MPI's buffer takes {}: {}",
               *entry.rank, folded.size(), entry.slots.size(), size, largest_entry,
               context_.mpi_major >= 5 ? "some releases of 5 cut the text, others abort" : "mpirun aborts"),
           "write ranges instead of lists, or a shorter name of the host", ""});
    }
    if (folded.size() + 6 + slots.size() <= largest_entry) return slots;
    std::string shorter = render_slot_ranges(reading.ranges);
    if (!reading.has_errors() && !shorter.empty() && folded.size() + 6 + shorter.size() <= largest_entry) {
      return shorter;
    }
    line_mendable_ = false;
    return slots;
  }

  const SlotReading& read_cached(const std::string& slots, const MachineTopology* machine) {
    if (slot_cache_.size() >= slot_cache_size) slot_cache_.clear();
    auto& of_machine = slot_cache_[slots];
    for (const auto& [known, reading] : of_machine) {
      if (known == machine) return reading;
    }
    return of_machine.emplace_back(machine, read_slots(slots, machine, context_.mpi_major)).second;
  }

  void count_uses(const SlotReading& reading, std::uint32_t host, std::uint32_t rank, int line, bool known) {
    if (facts_.uses.size() > largest_uses) return;
    if (!known) {
      for (const SlotRange& range : reading.ranges) {
        if (range.package != SlotRange::every_package) facts_.uses.push_back({host, range, rank, line});
      }
      return;
    }
    for (std::size_t i = 0; i < reading.cores.size();) {
      std::size_t end = i + 1;
      while (end < reading.cores.size() && reading.cores[end].logical == reading.cores[end - 1].logical + 1)
        ++end;
      facts_.uses.push_back(
          {host, {-1, reading.cores[i].logical, reading.cores[end - 1].logical}, rank, line});
      i = end;
    }
  }

  // Every finding of a line carries the same corrected line.
  void finish_line(const SourceLine& line, std::string mended) {
    if (line_findings_.empty()) return;
    if (line_mendable_) {
      std::string_view comment = line.comment;
      if (comment.ends_with('\r')) comment.remove_suffix(1);
      if (!comment.empty()) mended += (mended.empty() ? "" : " ") + std::string(comment);
    }
    const bool differs = mended != line.raw;
    for (RankfileFinding& finding : line_findings_) {
      if (line_mendable_ && differs) finding.corrected = mended;
      add(std::move(finding));
    }
  }

  const CheckContext& context_;
  RankfileFacts facts_;
  std::vector<RankfileFinding> findings_;
  std::vector<RankfileFinding> line_findings_;  // of the line that is being read
  bool line_mendable_ = true;                   // false once something in it is not ours to decide
  std::map<std::string, std::size_t> counts_;
  std::unordered_map<std::string, std::vector<std::pair<const MachineTopology*, SlotReading>>> slot_cache_;
  std::unordered_map<std::string_view, int> folds_reported_;
  std::size_t crlf_lines_ = 0;
  int first_crlf_line_ = 0;
  std::string first_crlf_text_;
};

}  // namespace

std::vector<RankfileFinding> check_rankfile(std::string_view text, const CheckContext& context) {
  return RankfileChecker(context).check(text);
}

bool has_errors(const std::vector<RankfileFinding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const RankfileFinding& finding) { return finding.severity == Severity::error; });
}

bool needs_attention(const std::vector<RankfileFinding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const RankfileFinding& finding) { return finding.severity != Severity::note; });
}

std::string render_finding(std::string_view file_name, const RankfileFinding& finding) {
  std::string text(file_name);
  if (finding.line > 0) text += fmt::format(":{}", finding.line);
  if (finding.line > 0 && finding.column > 0) text += fmt::format(":{}", finding.column);
  text += fmt::format(": {}: {} [{}]\n  try: {}\n", severity_name(finding.severity), finding.what, finding.id,
                      finding.hint);
  if (finding.corrected.empty()) return text;
  for (const std::string_view line : split(finding.corrected, '\n'))
    text += fmt::format("  fix: {}\n", printable(line, 500));
  return text;
}

std::string render_findings(std::string_view file_name, std::string_view text,
                            const std::vector<RankfileFinding>& findings) {
  constexpr std::size_t most_of_another_file = 20;
  const bool cut = findings.size() > most_of_another_file && parse_rank_lines(text).empty();
  const std::size_t shown = cut ? most_of_another_file : findings.size();
  const std::string name = printable_path(file_name);
  std::string all;
  for (std::size_t i = 0; i < shown; ++i) all += render_finding(name, findings[i]);
  if (cut) {
    all += fmt::format(
        "{}: this is no rankfile: no line of it is a rank line; {} more findings are not listed\n"
        "  try: ddlrun gen-rankfile DIMS HOSTS > job.rf\n",
        name, findings.size() - shown);
  }
  return all;
}

}  // namespace ddlrun::rankfile
