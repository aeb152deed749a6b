// SPDX-License-Identifier: MIT
// A signature: the texts that identify a known failure, its cause and its remedies.
// The data itself is in signatures/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

enum class SignatureClass {
  primary,    // P: names a cause
  generic,    // G: general: any primary of the same run comes first
  likely,     // L: a class of errors; for the most telling line of a log that no other signature explains
  fact,       // N: found by the exit status or by missing output, not by a text
  ending,     // E: how a rank or the job ended, without the reason
  secondary,  // S: a consequence of another process's failure; never the cause
  benign,     // W: harmless unless something else failed
};
char letter_of(SignatureClass kind);

// What a {name} inside a pattern stands for.
enum class Capture { any, host, rank, value, signal, status, number, end };

// One line of a pattern: literal pieces that stand on one physical line in this order. Between piece i-1 and
// piece i stands what gaps[i] names; gaps[0] is before the first and gaps.back() behind the last piece.
struct LinePattern {
  std::vector<std::string> pieces;
  std::vector<Capture> gaps;  // pieces.size() + 1
};

// The lines of one message, in order; other lines may stand between them.
using MessagePattern = std::vector<LinePattern>;

// An Open MPI help message: FILE / TOPIC.
struct HelpTopic {
  std::string file;
  std::string topic;

  bool operator==(const HelpTopic&) const = default;
};

// A rule on facts: the exit status, the program that reported it, an empty log, the last line.
struct FactRule {
  std::vector<int> statuses;
  std::string from;  // "mpirun", "pbs", "slurm", or "" for all
  bool log_is_empty = false;
  std::string last_line_has;
};

struct Signature {
  std::string id;
  SignatureClass kind = SignatureClass::primary;
  std::string title;
  std::string cause;
  std::vector<std::string> remedies;     // {host}, {rank} and {value} are filled in
  std::string reference;                 // where the message is defined or discussed, or ""
  std::vector<MessagePattern> patterns;  // alternatives
  std::vector<HelpTopic> topics;
  std::vector<FactRule> facts;
  bool may_follow = false;            // may also be a consequence: other causes come first
  bool unless_rank_ended = false;     // only where no rank is known to have been started and ended
  bool unless_rank_failed = false;    // only where no rank had ended by itself before, with a status
  bool unless_peer_ended = false;     // a consequence where a rank of another host had ended by itself
  bool reports_peer_end = false;      // a rank noticed that another one, which it knew, had ended
  bool shows_stack = false;           // a crash: the stack in the log says where
  bool last_counts = false;           // of several occurrences the last one explains
  bool ends_use = false;              // what failed stays unusable: it is the cause although the run went on
  bool fails_alone = false;           // a rank fails by it without the help of another one
  bool harmless_alone = false;        // the program goes on without it: a note where nothing else failed
  bool raw_status = false;            // {status} is what wait(2) returned: 65280 is exit status 255
  bool unless_run_continues = false;  // programs can run without it: a note where ordinary output follows
};

// Other facts in a log: how a rank ended, the status of the whole run, the host of a rank.
// `task`: of a task whose launcher ends with 0 nevertheless.
enum class EndingKind { rank, status, place, task };
struct Ending {
  std::string id;
  std::string from;  // as in FactRule; for a status
  EndingKind kind = EndingKind::rank;
  std::vector<MessagePattern> patterns;
  bool is_certain = false;  // counts more than an earlier message of another kind
};

struct SignatureSet {
  std::vector<Signature> signatures;
  std::vector<Ending> endings;
};

// The signature with this id (letters in either case), or nullptr.
const Signature* find_signature(const SignatureSet& set, std::string_view id);

}  // namespace ddlrun::diagnose
