// SPDX-License-Identifier: MIT
// Follows the tracebacks of Python 2 and 3 through a log, for each rank: frames, then the line of the
// exception. The head may be missing and lines of other ranks may stand between.
#pragma once

#include "doctor/diagnose/log_line.hpp"
#include "doctor/diagnose/match.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::diagnose {

struct PythonException {
  std::string type;  // as printed: "ValueError", "torch.cuda.OutOfMemoryError"
  std::string message;
  std::string file;  // base name of the innermost frame outside of libraries, "" if no frame was seen
  std::string path;  // the same as printed
  std::uint64_t line = 0;
  std::uint32_t source = 0;
  Moment moment;                        // of its first line
  std::uint64_t sequence = 0;           // of its last line
  Place place;                          // by the prefix of its lines
  std::vector<EvidenceLine> evidence;   // that frame and the exception
  std::vector<EvidenceLine> following;  // the lines behind it, at most 3: the rest of a long message
  bool is_consequence =
      false;  // another process failed first, or another exception of the chain explains more

  // "from KeyError: 'lr' (train.py:3)", "then RuntimeError: ... (train.py:9)": the other one of a chain.
  std::string related;
  std::string root;                          // the message of the exception that it was raised from
  std::vector<EvidenceLine> chain_evidence;  // of the others, in the order of the log

  // The same again, where as many exceptions are kept as may be.
  std::uint64_t repeats = 0;
  std::set<std::uint32_t> repeating_ranks = {};

  std::string headline() const { return message.empty() ? type : type + ": " + message; }
  // With its place: "KeyError: 'lr' (train.py:3)".
  std::string title() const;
};

bool is_same(const PythonException& a, const PythonException& b);

class TracebackReader {
 public:
  // True while lines without any literal matter too.
  bool is_attentive() const { return !open_.empty(); }
  // False for an exception that Python only reports: "Exception ignored in".
  bool take(const ReadLine& line);
  void end_source();
  // A log ended within a traceback, before its exception.
  bool is_cut_off() const { return is_cut_off_; }

  // In the order of the log, at most 32.
  const std::vector<PythonException>& exceptions() const { return found_; }
  // The line stands above the last line of an exception that was read: no error by itself.
  bool is_of_stack(std::uint32_t source, std::uint64_t line) const {
    return stack_lines_.contains({source, line});
  }
  // The line is the last one of an exception.
  bool ends_stack(std::uint32_t source, std::uint64_t line) const;
  // The earliest that is no consequence, or nullptr.
  const PythonException* first_cause() const;

 private:
  struct Frame {
    std::string file;
    std::string path;
    std::uint64_t line = 0;
    EvidenceLine evidence;
    std::string code;  // the line of the program, "" if the traceback lacks it
  };
  enum class Chain { none, handled, wrapped };
  struct Open {
    std::optional<std::uint32_t> rank;
    PythonException exception;
    std::optional<Frame> own;   // innermost of the program
    std::optional<Frame> last;  // innermost of all
    std::size_t column =
        std::string_view::npos;         // where the exception stands if the log kept the indentation
    std::vector<std::uint64_t> lines;   // of the stack
    int lines_left = 0;                 // of this rank
    int any_left = 0;                   // of all ranks
    bool ended = false;                 // the exception was read; a chain may follow
    std::optional<std::size_t> before;  // number of the exception before in the chain
    Chain chain = Chain::none;
    bool is_ignored = false;  // Python only reports it: "Exception ignored in"
  };

  Open& open_for(const ReadLine& line);
  bool take_frame(const ReadLine& line);
  static void add_line(Open& open, const ReadLine& line);
  static void take_code(Open& open, const ReadLine& line, std::string_view text);
  void take_message_below(const Open& open, const ReadLine& line, std::string_view text);
  void count_repeat(const PythonException& exception);
  void link(const Open& open, PythonException& exception);
  void take_exception(Open& open, const ReadLine& line, std::string_view text);

  std::vector<Open> open_;
  bool ignores_ = false;  // the exception of the line that is read
  bool is_cut_off_ = false;
  std::vector<PythonException> found_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> stack_lines_;  // by source
};

// True for an exception that reports another process's failure: ChildFailedError, ConnectionResetError, ...
bool is_consequence_exception(std::string_view type, std::string_view message);

// "ValueError: text" -> {"ValueError", "text"}; nothing where the line begins with no exception's name.
struct ExceptionText {
  std::string_view type;
  std::string_view message;
};
std::optional<ExceptionText> exception_text(std::string_view line);

}  // namespace ddlrun::diagnose
