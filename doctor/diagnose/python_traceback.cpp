// SPDX-License-Identifier: MIT
#include "doctor/diagnose/python_traceback.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/following_lines.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_exceptions = 32;
constexpr std::size_t max_tracebacks = 64;
constexpr std::size_t max_stack_lines = 8192;  // of all tracebacks
constexpr std::size_t max_lines_of_stack = 200;
constexpr int lines_after_frame = 12;  // source text of several lines, markers, lines of other ranks
constexpr int lines_after_exception = 5;
constexpr int lines_of_all_ranks = 400;

constexpr std::string_view head = "Traceback (most recent call last)";
constexpr std::string_view handled = "During handling of the above exception";
constexpr std::string_view ignored = "Exception ignored in";
constexpr std::string_view wrapped = "The above exception was the direct cause";

bool is_library(std::string_view path) {
  constexpr std::array parts = {"site-packages", "dist-packages", "/lib/python", "/lib64/python", "<frozen",
                                "<string>",      "<__array_",     "/importlib/", ".pyx"};
  return has_any(path, parts);
}

// The script that pip makes of a console command: "/usr/bin/torchrun", which only calls a library.
bool is_console_stub(std::string_view path, std::string_view code) {
  const std::string_view name = base_name(path);
  const std::string_view directory = path.substr(0, path.size() - name.size());
  const bool is_command = directory.ends_with("bin/") && name.find('.') == std::string_view::npos;
  return is_command && (code.empty() || starts_with_any(code, {"sys.exit", "load_entry_point"}));
}

std::string_view last_component(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool begins_like_a_name(std::string_view name) {
  const char first = name.empty() ? ' ' : name.front();
  const bool letter = (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z') || first == '_';
  return letter && std::all_of(name.begin(), name.end(), [](char c) { return is_name_byte(c) && c != '-'; });
}

// The name before the first colon, or the whole line.
ExceptionText split_at_colon(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {line, {}};
  return {line.substr(0, colon), trim(line.substr(colon + 1))};
}

EvidenceLine evidence_of(const ReadLine& line, std::string_view text) {
  return {line.line, sanitize(trim(text), 300)};
}

}  // namespace

std::optional<ExceptionText> exception_text(std::string_view line) {
  const ExceptionText split = split_at_colon(line);
  if (split.type.size() > 120 || !begins_like_a_name(split.type)) return std::nullopt;
  const std::string_view name = last_component(split.type);
  if (name.empty() || name.front() < 'A' || name.front() > 'Z') return std::nullopt;
  constexpr std::array endings = {"Error", "Exception", "Interrupt", "Exit", "Failure", "Fault", "Timeout"};
  const bool known = std::any_of(endings.begin(), endings.end(), [name](const char* end) {
    return name.ends_with(end) && name.size() > std::string_view(end).size();
  });
  const bool of_errors =
      has_any(split.type, {".errors.", ".exceptions.", ".error."});  // parsl.errors.ManagerLost
  return known || of_errors || name == "Exception" || name == "StopIteration" ? std::optional(split)
                                                                              : std::nullopt;
}

bool is_consequence_exception(std::string_view type, std::string_view message) {
  constexpr std::array types = {"ChildFailedError",     "CalledProcessError",      "BrokenPipeError",
                                "ConnectionResetError", "ProcessExitedException",  "ProcessRaisedException",
                                "BrokenProcessPool",    "HorovodInternalError",    "WorkerCrashedError",
                                "ActorDiedError",       "RayActorError",           "CancelledError",
                                "RuleException",        "WorkflowError",           "AbortedError",
                                "DistBackendError",     "PapermillExecutionError", "CellExecutionError"};
  const std::string_view name = last_component(type);
  // A DistBackendError with a first cause in its own words is one of NCCL, not of a peer.
  constexpr std::array messages = {"Connection reset by peer",
                                   "Connection closed by peer",
                                   "Broken pipe",
                                   "communicator was aborted",
                                   "Socket closed",
                                   "remote process exited",
                                   "Horovod has been shut down",
                                   "handle is closed",
                                   "in DataLoader worker process",  // the worker's own follows it
                                   "in replica",
                                   "See root cause above",
                                   "background worker",
                                   "watchdog timeout"};
  const bool by_message = has_any(message, messages);
  if (name == "DistBackendError") return by_message;
  return by_message || std::find(types.begin(), types.end(), name) != types.end();
}

std::string PythonException::title() const {
  return file.empty() ? headline() : fmt::format("{} ({}:{})", headline(), file, line);
}

bool is_same(const PythonException& a, const PythonException& b) {
  return a.type == b.type && a.message == b.message && a.path == b.path && a.line == b.line;
}

bool TracebackReader::ends_stack(std::uint32_t source, std::uint64_t line) const {
  return std::any_of(found_.begin(), found_.end(), [&](const PythonException& one) {
    return one.source == source && one.evidence.back().line == line;
  });
}

const PythonException* TracebackReader::first_cause() const {
  const PythonException* first = nullptr;
  for (const PythonException& one : found_) {
    if (!one.is_consequence && (first == nullptr || is_earlier(one.moment, first->moment))) first = &one;
  }
  return first;
}

TracebackReader::Open& TracebackReader::open_for(const ReadLine& line) {
  const auto known = std::find_if(open_.begin(), open_.end(),
                                  [&](const Open& open) { return open.rank == line.prefix.rank; });
  if (known != open_.end() && !known->ended) return *known;
  Open open;
  open.rank = line.prefix.rank;
  open.any_left = lines_of_all_ranks;
  open.exception.source = line.source;
  open.exception.moment = {line.prefix.stamp, line.sequence};
  open.exception.place = {line.prefix.rank, line.prefix.host};
  if (known != open_.end()) {
    open.before = known->before;
    open.chain = known->chain;
    *known = std::move(open);
    return *known;
  }
  if (open_.size() >= max_tracebacks) open_.erase(open_.begin());
  return open_.emplace_back(std::move(open));
}

// `  File "train.py", line 18, in step`
bool TracebackReader::take_frame(const ReadLine& line) {
  const std::string_view text = line.prefix.text;
  constexpr std::string_view begin = "File \"", middle = "\", line ";
  const std::size_t file = text.find(begin);
  const std::size_t number =
      file == std::string_view::npos ? std::string_view::npos : text.find(middle, file);
  if (number == std::string_view::npos || !trim(text.substr(0, file)).empty()) return false;
  const std::string_view path = text.substr(file + begin.size(), number - file - begin.size());
  const std::string_view rest = text.substr(number + middle.size());
  const auto line_number = parse_unsigned(rest.substr(0, rest.find_first_not_of("0123456789")), 1u << 30);
  if (!line_number) return false;
  Open& open = open_for(line);
  open.lines_left = lines_after_frame;
  open.any_left = lines_of_all_ranks;
  add_line(open, line);
  Frame frame{sanitize(file_name_of(path), 100), sanitize(path, 300), *line_number, evidence_of(line, text),
              ""};
  if (!is_library(path)) open.own = frame;
  open.last = std::move(frame);
  const std::size_t at = static_cast<std::size_t>(text.data() + file - line.raw.data());
  const bool indented = at >= 2 && line.raw.substr(at - 2, 2) == "  ";
  open.column = indented ? at - 2 : std::string_view::npos;
  return true;
}

void TracebackReader::add_line(Open& open, const ReadLine& line) {
  if (open.lines.size() < max_lines_of_stack) open.lines.push_back(line.line);
}

// The line of the program below its frame.
void TracebackReader::take_code(Open& open, const ReadLine& line, std::string_view text) {
  for (std::optional<Frame>* frame : {&open.own, &open.last}) {
    if (*frame && (*frame)->code.empty() && (*frame)->evidence.line + 1 == line.line)
      (*frame)->code = sanitize(text, 200);
  }
}

// The rest of a message may stand on the next line, which was read of the kept one only.
void TracebackReader::count_repeat(const PythonException& exception) {
  const auto kept = std::ranges::find_if(found_, [&](const PythonException& one) {
    PythonException whole = exception;
    if (whole.message.empty()) whole.message = one.message;
    return is_same(one, whole);
  });
  if (kept == found_.end()) return;
  ++kept->repeats;
  if (exception.place.rank) kept->repeating_ranks.insert(*exception.place.rank);
}

// `raise X from Y`: the program says with X what Y means. Of an exception while another one was handled the
// later counts, unless an errno is nearer to the cause than what a library made of it.
void TracebackReader::link(const Open& open, PythonException& exception) {
  PythonException& before = found_[*open.before];
  const bool is_errno = has(before.message, "[Errno") && !has(exception.message, "[Errno");
  const bool keeps_first = open.chain == Chain::handled && is_errno;
  PythonException& cause = keeps_first ? before : exception;
  PythonException& other = keeps_first ? exception : before;
  // Who reports another process has no cause of its own.
  const bool is_of_other =
      open.chain == Chain::wrapped && is_consequence_exception(before.type, before.message);
  other.is_consequence = true;
  cause.is_consequence = cause.is_consequence || is_of_other;
  if (keeps_first) {
    before.related = "then " + exception.title();
    before.chain_evidence.push_back(exception.evidence.back());
    return;
  }
  cause.chain_evidence = before.chain_evidence;
  cause.chain_evidence.insert(cause.chain_evidence.begin(), before.evidence.begin(), before.evidence.end());
  if (open.chain != Chain::wrapped) return;
  cause.root = before.root.empty() ? before.headline() : before.root;
  cause.related = before.related.empty() ? "from " + before.title() : before.related;
}

void TracebackReader::take_exception(Open& open, const ReadLine& line, std::string_view text) {
  const ExceptionText split = split_at_colon(text);
  PythonException& exception = open.exception;
  exception.type = sanitize(split.type, 120);
  exception.message = sanitize(split.message, 300);
  const bool has_own = open.own && !is_console_stub(open.own->path, open.own->code);
  const auto& frame = has_own ? open.own : open.last;
  if (frame) {
    exception.file = frame->file;
    exception.path = frame->path;
    exception.line = frame->line;
    exception.evidence.push_back(frame->evidence);
    // "AssertionError" alone: the condition is in the program's line.
    if (exception.message.empty() && frame->code.starts_with("assert ")) exception.message = frame->code;
  }
  for (const std::uint64_t one : open.lines)
    if (stack_lines_.size() < max_stack_lines) stack_lines_.insert({line.source, one});
  open.lines.clear();
  exception.evidence.push_back(evidence_of(line, text));
  exception.sequence = line.sequence;
  ignores_ = open.is_ignored;
  exception.is_consequence = open.is_ignored || is_consequence_exception(exception.type, exception.message);
  if (open.before && open.chain != Chain::none && !exception.is_consequence) {
    link(open, exception);
  }
  open.ended = true;
  open.chain = Chain::none;
  open.lines_left = lines_after_exception;
  open.before.reset();
  if (found_.size() >= max_exceptions) return count_repeat(exception);
  open.before = found_.size();
  found_.push_back(exception);
}

// "RuntimeError:" alone, or "RuntimeError: the ranks:": the text stands on the next line.
void TracebackReader::take_message_below(const Open& open, const ReadLine& line, std::string_view text) {
  if (!open.before) return;
  PythonException& exception = found_[*open.before];
  std::string& message = exception.message;
  add_following(exception.following, exception.evidence.back().line, line.line, text);
  if (exception.sequence + 1 != line.sequence || (!message.empty() && !message.ends_with(':'))) return;
  message += (message.empty() ? "" : " ") + sanitize(text, 300);
}

void TracebackReader::end_source() {
  for (const Open& open : open_) is_cut_off_ = is_cut_off_ || (open.last && !open.ended && !open.is_ignored);
  open_.clear();
}

bool TracebackReader::take(const ReadLine& line) {
  const std::string_view text = trim(line.prefix.text);
  ignores_ = false;
  if (has(text, ignored)) {
    Open& open = open_for(line);  // the traceback that follows is harmless
    open.is_ignored = true;
    open.lines_left = lines_after_frame;
  } else if (has(text, head)) {
    Open& open = open_for(line);
    open.lines_left = lines_after_frame;
    add_line(open, line);
  } else if (!take_frame(line)) {
    const auto found = std::find_if(open_.begin(), open_.end(),
                                    [&](const Open& open) { return open.rank == line.prefix.rank; });
    if (found != open_.end() && !text.empty()) {
      Open& open = *found;
      if (open.ended) {
        if (text.starts_with(handled)) open.chain = Chain::handled;
        if (text.starts_with(wrapped)) open.chain = Chain::wrapped;
        if (open.chain == Chain::none) take_message_below(open, line, text);
      } else {
        const std::size_t at = static_cast<std::size_t>(text.data() - line.raw.data());
        const bool in_column = at == open.column && begins_like_a_name(split_at_colon(text).type);
        if (in_column || exception_text(text)) {
          take_exception(open, line, text);
        } else {
          take_code(open, line, text);
          add_line(open, line);
        }
      }
    }
  }
  for (Open& open : open_) {
    --open.any_left;
    if (open.rank == line.prefix.rank) --open.lines_left;
  }
  std::erase_if(open_, [](const Open& open) { return open.lines_left < 0 || open.any_left < 0; });
  return !ignores_;
}

}  // namespace ddlrun::diagnose
