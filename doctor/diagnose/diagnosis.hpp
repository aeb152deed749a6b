// SPDX-License-Identifier: MIT
// The diagnosis of one run: the cause, its place, the lines that show it and the commands to try; or that no
// signature matches. A plain value; the render_ functions write it for people and programs.
#pragma once

#include "doctor/diagnose/run_traits.hpp"
#include "doctor/diagnose/signature.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

// One line of a log, without its prefixes and made safe to print.
struct LogLine {
  std::string source;      // file name, "-" for stdin
  std::uint64_t line = 0;  // 1-based; 0: unknown
  std::string text;

  bool operator==(const LogLine&) const = default;
};

// Who a message is about; both may be unknown.
struct Place {
  std::optional<std::uint32_t> rank;
  std::string host;

  bool empty() const { return !rank && host.empty(); }
  bool operator==(const Place&) const = default;
};

// One signature that matched. `remedies` contain the run's own host and value.
struct Finding {
  std::string id;
  SignatureClass kind = SignatureClass::primary;
  std::string title;
  std::string cause;
  std::vector<std::string> remedies;
  std::string reference;
  Place place;                         // of the earliest, or of the suspect
  std::vector<std::string> all_hosts;  // every host that showed it, at most 16
  std::vector<std::uint32_t> all_ranks;
  std::vector<LogLine> evidence;   // of the earliest; empty if only the exit status matched
  std::vector<LogLine> following;  // the lines behind the evidence, at most 3
  std::uint64_t count = 0;         // how often
  bool is_same_of_ranks = false;   // those ranks show the same text, and each failed without another one
  bool fails_alike = false;        // all ranks of the run show it: none failed because of another
  bool is_survived = false;        // the run went on after it and failed later by another cause
};

// The rank that failed first, by the messages of mpirun, srun or the ranks themselves.
struct FailingRank {
  Place place;
  std::string how;  // "signal 9 (Killed)", "exit status 7", or its message
  LogLine evidence;
  bool is_certain = false;  // the supervisors of the ranks report it
};

// The run's own end, where it is known.
enum class LogSource { unknown, mpirun, pbs, slurm };
struct RunStatus {
  std::optional<int> status;
  LogSource from = LogSource::unknown;
  bool of_launch = false;    // for `ddlrun launch`: remedies are its options, whatever its launcher
  std::string tagging = {};  // the command that prints the rank on each line, where it is not the launcher's
  bool names_ranks = false;  // each line of its output has its rank, by an option or in a file of the rank
  std::optional<std::uint32_t> first_rank = {};  // the rank that failed first, as launch knows
  std::uint32_t ranks = 0;                       // of the run; 0: unknown
  bool is_first_unsure = false;                  // several ranks failed by themselves in the same second
  bool is_of_first_rank = false;  // `status` is that of the rank that failed first, not the launcher's own
};

// The other ranks of libddl report the rank of `place`, for which they waited.
bool is_missed_rank(const Finding& finding);
// That rank still runs, but does not make the call for which the others wait.
bool stands_still(const Finding& finding);
// The rank of `place` failed before others did: they missed it, or mpirun reports that it left.
bool left_first(const Finding& finding);
// Two ranks make different calls of libddl: `all_ranks` has both.
bool is_call_mismatch(const Finding& finding);

// The signature of ddlrun's own errors: "ddlrun: error: ...".
constexpr std::string_view own_error_id = "O2";
// The signature of the bundled trainer's: "ddl-train: error: ...".
constexpr std::string_view trainer_error_id = "O1";
// The signature of a crash of mpirun, which reads like that of a rank.
constexpr std::string_view launcher_crash_id = "E28";

enum class Verdict {
  no_trouble,    // nothing but harmless noise, and no sign of failure
  cause_found,   // `cause` is set
  likely_cause,  // `cause` is set, by general rules: the most telling line, of class L
  unknown,       // it failed, and no signature matches: see `salient_lines`
};

struct Diagnosis {
  Verdict verdict = Verdict::no_trouble;
  std::optional<Finding> cause;
  std::vector<Finding> also_seen;  // the others, weightiest first
  std::optional<FailingRank> first_failing;
  RunStatus end;
  std::string status_meaning;  // the exit status in words, or ""
  std::vector<LogLine> salient_lines;
  bool only_consequences =
      false;  // a rank ended by itself, and all exceptions are those of others that noticed it
  bool errors_are_consequences =
      false;                 // no sure cause, and all exceptions notice that another process is gone
  bool shows_error = false;  // one of `salient_lines` is certainly an error
  bool names_ranks = false;  // the log has a rank on its lines
  bool is_tagged = false;    // on each of them: no command has to put it there
  bool of_srun = false;      // it contains srun's own messages
  RunTraits traits = {};
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
};

// The finding by which the other ranks of libddl name the rank that is gone, as the cause or beside it; or
// nullptr.
const Finding* find_gone_rank(const Diagnosis& diagnosis);

// Whether a signature explains the end: general rules only point at a line.
bool is_sure(const Diagnosis& diagnosis);

// The exit status of `ddlrun diagnose`: 0 for no trouble, else 1.
int exit_code(const Diagnosis& diagnosis);

// `diagnosis` with the hosts of its ranks where only those are known (a launcher has the map).
Diagnosis with_hosts(Diagnosis diagnosis, const std::function<std::string(std::uint32_t rank)>& host_of);

// For people; ends with a newline. Holds no control bytes.
std::string render_diagnosis(const Diagnosis& diagnosis);

// "B1   P a host of the rankfile ...", for --list.
std::string render_signature_line(const Signature& signature);

// A signature in full, for --explain.
std::string render_signature(const Signature& signature);

}  // namespace ddlrun::diagnose
