// SPDX-License-Identifier: MIT
#include "doctor/diagnose/match_store.hpp"

#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"
#include "doctor/diagnose/exit_status.hpp"
#include "doctor/diagnose/finding_text.hpp"
#include "doctor/diagnose/message_parts.hpp"
#include "doctor/diagnose/salient_lines.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_names = 16;
constexpr std::size_t max_places = 1u << 16;
constexpr std::size_t longest_shown = 300, longest_read = 2000;  // of a text in a title

Place place_of(const Match& match) {
  Place place;
  for (const Captures* captures : {&match.captures, &match.fields}) {
    if (!place.rank) place.rank = captures->rank;
    if (place.host.empty()) place.host = captures->host;
  }
  if (!place.rank) place.rank = match.origin_rank;
  if (place.host.empty()) place.host = match.origin_host;
  return place;
}

// "cd: /scratch/me" of "job.sh: line 2: cd: /scratch/me: No such file": the name of bash's builtin is no part
// of the path.
std::string without_builtin(std::string value) {
  constexpr std::string_view builtins[] = {"cd: ", "pushd: ", "source: ", ".: ", "exec: "};
  for (const std::string_view name : builtins)
    if (value.starts_with(name)) return value.substr(name.size());
  return value;
}

std::string value_of(const Match& match) {
  std::string value = match.captures.value.empty() ? match.fields.value : match.captures.value;
  const bool is_to_end = !match.evidence.empty() && trim(match.evidence.front().text).ends_with(trim(value));
  for (const EvidenceLine& next : match.following) {
    const bool goes_on = ends_within_sentence(value) || trim(value).ends_with(':');
    if (!is_to_end || value.empty() || !goes_on) break;
    value = std::string(trim(value)) + ' ' + next.text;
  }
  return shorten(sanitize(without_builtin(value), longest_read), longest_shown);
}

// Where a number is captured (a collective's sequence number) the lowest is the suspect; else the earliest.
bool is_better(const Match& a, const Match& b) {
  if (a.captures.number && b.captures.number && *a.captures.number != *b.captures.number) {
    return *a.captures.number < *b.captures.number;
  }
  return is_earlier({a.stamp, a.sequence}, {b.stamp, b.sequence});
}

// The more specific of two patterns on one line, else the better.
bool is_preferred(const Signature& signature, const Match& match, const Match& kept) {
  const bool same_line = kept.sequence == match.sequence;
  if (same_line && match.weight > kept.weight) return true;
  return signature.last_counts ? match.sequence > kept.sequence : is_better(match, kept);
}

// Other causes of its class come first: it may be their consequence, or programs survive it.
bool gives_way(const Signature& signature) { return signature.may_follow || signature.unless_run_continues; }

// A line of Python's logging at level WARNING: the program goes on after it.
bool is_warning(const Match& match) {
  constexpr std::string_view levels[] = {"(WARNING)", "[WARNING]", " - WARNING - ", "WARNING:root"};
  return !match.evidence.empty() && has_any(match.evidence.front().text, levels);
}

// The job script or another program before the ranks complains: what fails later explains more.
bool is_before_program(const Match& match) {
  return !match.evidence.empty() && (is_of_modules(match.evidence.front().text) ||
                                     has(match.evidence.front().text, ": symbol lookup error: "));
}

int order_of(SignatureClass kind) { return static_cast<int>(kind); }

bool is_abort_call(const Match& end) {
  return std::any_of(end.evidence.begin(), end.evidence.end(),
                     [](const EvidenceLine& line) { return has(line.text, "MPI_Abort"); });
}

// torchrun and Python write a signal as a negative status; -1 is the usual argument of MPI_Abort.
bool is_error_code(const Match& end) {
  const bool is_field = !end.captures.status && end.fields.status;  // of Open MPI's message on MPI_Abort
  const int status = end.captures.status.value_or(end.fields.status.value_or(0));
  return status == -1 || (status < 0 && (is_field || is_abort_call(end)));
}

std::string how_of(const Match& end) {
  const Captures& captures = end.captures;
  const auto status = captures.status ? captures.status : end.fields.status;
  if (captures.signal) return describe_signal(*captures.signal);
  if (is_error_code(end)) return fmt::format("error code {}", *status);
  if (status && *status < 0) return describe_signal(-*status);
  if (status) return fmt::format("exit status {}", *status);
  return captures.value.empty() ? std::string() : sanitize(captures.value, 200);
}

// With an exit status or a crash; another signal may come from the launcher, which ends the other ranks.
bool failed_by_itself(const Match& end) {
  constexpr int crashes[] = {4, 6, 7, 8, 11};  // ILL, ABRT, BUS, FPE, SEGV
  constexpr std::string_view crashes_of_srun[] = {"Illegal instruction", "Aborted", "Bus error",
                                                  "Floating point exception", "Segmentation fault"};
  const auto& signal = end.captures.signal;
  if (signal && std::find(std::begin(crashes), std::end(crashes), *signal) != std::end(crashes)) return true;
  for (const std::string_view words : crashes_of_srun) {
    if (end.captures.value.starts_with(words)) return true;
  }
  const auto status = end.captures.status ? end.captures.status : end.fields.status;
  if (end.captures.value.starts_with("Exited with exit code ")) return true;  // srun
  return !end.captures.signal && status && ((*status > 0 && *status <= 128) || is_error_code(end));
}

}  // namespace

LogSource log_source_named(std::string_view name) {
  if (name == "mpirun") return LogSource::mpirun;
  if (name == "pbs") return LogSource::pbs;
  if (name == "slurm") return LogSource::slurm;
  return LogSource::unknown;
}

void MatchStore::add(Match&& match, std::uint64_t episode) {
  const auto& evidence = match.evidence;
  const std::uint64_t length = evidence.empty() ? 0 : evidence.back().line - evidence.front().line;
  const bool is_benign = !match.is_ending && set_.signatures[match.owner].kind == SignatureClass::benign;
  // Open MPI counts at the end what it left out before. A message that also stands in the log may still
  // matter, unless programs run without what it misses.
  const bool is_count =
      !match.is_ending && !evidence.empty() &&
      (!entries_.contains(match.owner) || set_.signatures[match.owner].unless_run_continues) &&
      has(evidence.front().text, "sent help message");
  const bool is_good_end = match.is_ending && match.captures.status == 0 && !match.captures.signal;
  if (!is_benign && !is_count && !is_good_end) last_line_ = std::max(last_line_, match.sequence + length);
  if (match.is_ending) return add_ending(match);
  const Signature& signature = set_.signatures[match.owner];
  Entry& entry = entries_[match.owner];
  const bool first = entry.count == 0;
  // Two patterns of one signature on one line are one match, and so is a text where a long line was cut.
  const bool counted =
      !first && (entry.best.sequence == match.sequence || entry.last_sequence == match.sequence);
  entry.last_sequence = match.sequence;
  if (!counted) entry.count += match.count;
  if (!first && !counted && match.captures.value != entry.best.captures.value) entry.differs = true;
  const Place place = place_of(match);
  if (!place.host.empty() && entry.hosts.size() < max_names) entry.hosts.insert(place.host);
  // Whether all ranks show it counts where each fails alone.
  const std::size_t most_ranks = signature.fails_alone ? max_places : max_names;
  if (place.rank && entry.ranks.size() < most_ranks) entry.ranks.insert(*place.rank);
  entry.first_sequence = first ? match.sequence : std::min(entry.first_sequence, match.sequence);
  if (first || episode > entry.latest_episode || is_preferred(signature, match, entry.latest))
    entry.latest = match;
  entry.latest_episode = std::max(entry.latest_episode, episode);
  if (first || is_preferred(signature, match, entry.best)) entry.best = std::move(match);
}

void MatchStore::add_ending(const Match& match) {
  const Ending& ending = set_.endings[match.owner];
  const Place place = place_of(match);
  if (ending.kind != EndingKind::status && place.rank && !place.host.empty() &&
      host_of_rank_.size() < max_places) {
    host_of_rank_.emplace(*place.rank, place.host);
  }
  if (ending.kind == EndingKind::rank && is_earlier_end(match)) first_end_ = match;
  if (ending.kind == EndingKind::task && !task_status_ && match.captures.status.value_or(0) != 0)
    task_status_ = {match.captures.status, log_source_named(ending.from)};
  if (ending.kind == EndingKind::status) {
    const auto& captures = match.captures;
    if (captures.status) status_.status = captures.status;
    if (captures.signal && *captures.signal != 0) status_.status = 128 + *captures.signal;
    status_.from = log_source_named(ending.from);
    // One command of several that ended well says nothing about the others.
    if (status_.status == 0 && status_.from == LogSource::unknown) status_ = {};
  }
}

// What the supervisors of ranks report is certain; mpirun and the ranks name what they notice first.
bool MatchStore::is_earlier_end(const Match& match) const {
  if (!first_end_) return true;
  const bool is_certain = set_.endings[match.owner].is_certain;
  const bool was_certain = set_.endings[first_end_->owner].is_certain;
  return is_certain == was_certain ? is_better(match, *first_end_) : is_certain;
}

Finding MatchStore::finding_in(const Signature& signature, const Entry& entry, const Match& best,
                               const std::vector<std::string>& sources, const std::string& tagged,
                               const std::string& likely_host) const {
  Place place = place_of(best);
  // A kernel that fails prints no rank; the exception that follows it does.
  if (!place.rank && entry.ranks.size() == 1) place.rank = *entry.ranks.begin();
  if (place.host.empty() && place.rank) place.host = host_of(*place.rank);
  TemplateValues with;
  with.place = place;
  with.value = value_of(best);
  with.advice = sanitize(best.fields.advice, 400);
  with.tagged = tagged;
  if (with.place.host.empty()) with.place.host = likely_host;
  with.status = best.captures.status ? best.captures.status : best.fields.status;
  with.signal = best.captures.signal;
  if (signature.raw_status && with.status) with.value = wait_status_words(*with.status);
  std::string text;
  for (const EvidenceLine& line : best.evidence) text += line.text + ' ';
  with.path = path_in(text);
  with.library = library_in(text);
  with.script = script_in(text);
  with.port = port_in(text);
  Finding finding = finding_of(signature, with);
  finding.place = std::move(place);
  finding.all_hosts.assign(entry.hosts.begin(), entry.hosts.end());
  finding.all_ranks.assign(entry.ranks.begin(), entry.ranks.end());
  finding.evidence = lines_in(sources[best.source], best.evidence);
  finding.following = lines_in(sources[best.source], best.following);
  finding.count = entry.count;
  finding.is_same_of_ranks = signature.fails_alone && !entry.differs;
  return finding;
}

// A rank that ends breaks its connections: those that cannot connect to it have no fault. Not where the rank
// itself was the one that could not connect.
bool MatchStore::peer_ended(const Entry& entry) const {
  const auto reports_before = [&](const auto& other) {
    return set_.signatures[other.first].reports_peer_end &&
           other.second.first_sequence < entry.first_sequence;
  };
  if (std::any_of(entries_.begin(), entries_.end(), reports_before)) return true;
  // Of a rank that left with status 0 mpirun reports neither status nor signal.
  const bool by_signal = first_end_ && first_end_->captures.signal;
  if (!first_end_ || (by_signal && !failed_by_itself(*first_end_))) return false;
  Place ended = place_of(*first_end_);
  if (ended.host.empty() && ended.rank) ended.host = host_of(*ended.rank);
  return !ended.host.empty() && !entry.hosts.empty() && !entry.hosts.contains(ended.host);
}

void MatchStore::set_host(std::uint32_t rank, std::string host) {
  host_of_rank_.insert_or_assign(rank, std::move(host));
}

std::vector<Finding> MatchStore::ranked(const std::vector<std::string>& sources, const std::string& tagged,
                                        const std::string& likely_host, LastEpisodes episodes) const {
  struct Row {
    const Signature* signature;
    const Entry* entry;
    const Match* best;
    std::uint64_t first_sequence;
    bool is_earlier;  // and the run survived it
    bool is_consequence;
  };
  std::vector<Row> rows;
  for (const auto& [number, entry] : entries_) {
    const Signature& signature = set_.signatures[number];
    if (signature.unless_rank_ended && first_end_) continue;
    if (signature.unless_rank_failed && first_end_ && failed_by_itself(*first_end_) &&
        first_end_->sequence < entry.first_sequence)
      continue;
    const bool is_cause = signature.kind <= SignatureClass::generic;
    const std::uint64_t needed = signature.unless_run_continues ? episodes.of_end : episodes.of_cause;
    const bool is_earlier = is_cause && !signature.ends_use && entry.latest_episode < needed;
    const bool is_end = signature.kind == SignatureClass::ending;
    if ((is_cause || is_end) && episodes.of_cause > 0 && !is_earlier && entry.latest_episode >= needed)
      rows.push_back({&signature, &entry, &entry.latest, entry.latest.sequence, false, false});
    else
      rows.push_back({&signature, &entry, &entry.best, entry.first_sequence, is_earlier, false});
    rows.back().is_consequence = signature.unless_peer_ended && peer_ended(entry);
  }
  // A signature with may_follow hides a less specific one on the same lines, which would claim to be the
  // cause.
  const std::vector<Row> all = rows;
  std::erase_if(rows, [&all](const Row& row) {
    return !row.signature->may_follow && std::any_of(all.begin(), all.end(), [&row](const Row& other) {
      return other.signature->may_follow && other.signature->kind == row.signature->kind &&
             other.first_sequence == row.first_sequence && other.entry->count == row.entry->count &&
             other.best->weight > row.best->weight;
    });
  });
  // The warning of a shell that is known to be harmless, by more of its words, is no failure.
  std::erase_if(rows, [&all](const Row& row) {
    return row.signature->kind <= SignatureClass::generic && !row.best->evidence.empty() &&
           has(row.best->evidence.front().text, ": warning: ") &&
           std::any_of(all.begin(), all.end(), [&row](const Row& other) {
             return other.signature->kind == SignatureClass::benign &&
                    other.first_sequence == row.first_sequence && other.entry->count >= row.entry->count &&
                    other.best->weight > row.best->weight;
           });
  });
  // Time stamps decide within a class only where all of it have one of the same kind.
  std::map<SignatureClass, Stamp::Kind> stamps;
  for (const Row& row : rows) {
    const auto kind = row.best->stamp.kind;
    const auto [known, is_new] = stamps.emplace(row.signature->kind, kind);
    if (!is_new && known->second != kind) known->second = Stamp::Kind::none;
  }
  const auto lateness = [](const Row& row) {
    if (is_before_program(*row.best)) return 2;
    return gives_way(*row.signature) || is_warning(*row.best) ? 1 : 0;
  };
  const auto kind_of = [](const Row& row) {
    return row.is_consequence ? SignatureClass::secondary : row.signature->kind;
  };
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a.is_earlier != b.is_earlier) return b.is_earlier;
    if (kind_of(a) != kind_of(b)) return order_of(kind_of(a)) < order_of(kind_of(b));
    const int a_late = lateness(a), b_late = lateness(b);
    if (a_late != b_late) return a_late < b_late;
    const bool by_time = stamps.at(a.signature->kind) != Stamp::Kind::none;
    const auto a_time = a.best->stamp.microseconds, b_time = b.best->stamp.microseconds;
    if (by_time && a_time != b_time) return a_time < b_time;
    if (a.first_sequence != b.first_sequence) return a.first_sequence < b.first_sequence;
    return a.best->weight > b.best->weight;
  });
  std::vector<Finding> findings;
  for (const Row& row : rows) {
    findings.push_back(finding_in(*row.signature, *row.entry, *row.best, sources, tagged, likely_host));
    findings.back().kind = kind_of(row);
    if (row.is_earlier) {
      findings.back().kind = SignatureClass::secondary;
      findings.back().is_survived = true;
    }
  }
  return findings;
}

std::uint64_t MatchStore::last_episode_with_cause() const {
  std::uint64_t last = 0;
  for (const auto& [number, entry] : entries_) {
    const Signature& signature = set_.signatures[number];
    if (signature.kind <= SignatureClass::generic && !gives_way(signature) && !is_warning(entry.latest))
      last = std::max(last, entry.latest_episode);
  }
  return last;
}

std::optional<FailingRank> MatchStore::first_failed_rank(const std::vector<std::string>& sources) const {
  if (!first_end_) return std::nullopt;
  FailingRank failing;
  failing.place = place_of(*first_end_);
  if (failing.place.host.empty() && failing.place.rank) failing.place.host = host_of(*failing.place.rank);
  failing.how = how_of(*first_end_);
  failing.is_certain = set_.endings[first_end_->owner].is_certain;
  const auto lines = lines_in(sources[first_end_->source], first_end_->evidence);
  failing.evidence = lines.front();
  for (std::size_t i = 1; i < lines.size(); ++i) failing.evidence.text += " | " + lines[i].text;
  return failing;
}

std::uint32_t MatchStore::ranks_alike() const {
  const bool alike = first_end_ && set_.endings[first_end_->owner].is_certain;
  return alike ? static_cast<std::uint32_t>(first_end_->captures.number.value_or(0)) : 0;
}

RunStatus MatchStore::logged_status() const { return status_; }

RunStatus MatchStore::status_with_tasks(RunStatus end) const {
  if (end.status.value_or(0) != 0 || !task_status_) return end;
  end.status = task_status_->status;
  if (end.from == LogSource::unknown) end.from = task_status_->from;
  return end;
}

std::string MatchStore::host_of(std::uint32_t rank) const {
  const auto found = host_of_rank_.find(rank);
  return found == host_of_rank_.end() ? std::string() : found->second;
}

}  // namespace ddlrun::diagnose
