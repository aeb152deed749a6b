// SPDX-License-Identifier: MIT
#include "doctor/diagnose/native_stack.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr int max_lines = 60;   // of a stack and what stands between its head and its first frame
constexpr int max_foreign = 3;  // other lines that end a stack
constexpr int callers = 3;      // frames above a nameless one
constexpr std::size_t max_name = 80;

std::string name_of(std::string_view text) { return sanitize(trim(text), max_name); }

// "run+0x2a" and "run(int, char**)" -> "run"
std::string function_of(std::string_view text) {
  text = trim(text);
  if (text.starts_with("+0x") || text.starts_with("??")) return "";
  const std::size_t end = std::min(text.find("+0x"), text.find('('));
  return name_of(text.substr(0, end));
}

bool is_hex(std::string_view word, std::size_t least) {
  if (word.starts_with("0x")) word.remove_prefix(2);
  return word.size() >= least && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

bool is_number(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "src/main.f90:645" -> "main.f90:645"; "" where no line number follows a file's name.
std::string source_in(std::string_view text) {
  text = trim(text);
  const std::size_t colon = text.rfind(':');
  if (colon == npos || colon == 0 || text.starts_with("??") || text.find(' ') != npos) return "";
  if (!is_number(text.substr(colon + 1)) || text.substr(colon + 1) == "0") return "";
  return name_of(file_name_of(text));
}

// glibc's backtrace_symbols: PATH(FUNCTION+0x2a)[0x7f..]
std::optional<StackFrame> glibc_frame(std::string_view text) {
  const std::size_t address = text.rfind("[0x");
  if (address == npos || text.back() != ']') return std::nullopt;
  std::string_view rest = trim(text.substr(0, address));
  if (rest.starts_with('[') || is_number(rest.substr(0, rest.find(' ')))) {  // "[ 2] " or " 2 "
    const std::size_t end = rest.find_first_of(rest.starts_with('[') ? "]" : " ");
    if (end == npos) return std::nullopt;
    rest = trim(rest.substr(end + 1));
  }
  const std::size_t open = rest.find('(');
  if (rest.empty() || rest.find(' ') < open) return std::nullopt;
  if (open == npos) return StackFrame{"", name_of(file_name_of(rest)), ""};
  if (!rest.ends_with(')')) return std::nullopt;
  return StackFrame{function_of(rest.substr(open + 1, rest.size() - open - 2)),
                    name_of(file_name_of(rest.substr(0, open))), ""};
}

// gdb and gfortran: #3  0x7f.. in FUNCTION (ARGUMENTS) from LIBRARY, or at FILE:LINE
std::optional<StackFrame> gdb_frame(std::string_view text) {
  if (!text.starts_with('#')) return std::nullopt;
  const std::size_t blank = text.find(' ');
  if (blank == npos || !is_number(text.substr(1, blank - 1))) return std::nullopt;
  std::string_view rest = trim(text.substr(blank));
  const bool has_address = rest.starts_with("0x");
  if (const std::size_t in = rest.find(" in "); has_address && in != npos)
    rest = trim(rest.substr(in + 4));
  else if (has_address)
    return StackFrame{};
  StackFrame frame;
  if (const std::size_t from = rest.rfind(" from "); from != npos) {
    frame.image = name_of(file_name_of(rest.substr(from + 6)));
    rest = rest.substr(0, from);
  } else if (const std::size_t at = rest.rfind(" at "); at != npos) {
    frame.source = source_in(rest.substr(at + 4));
    rest = rest.substr(0, at);
  } else if (!has_address) {
    return std::nullopt;
  }
  frame.function = function_of(rest);
  return frame;
}

// UCX: 2 0x00000000004f2a FUNCTION()  FILE:LINE
std::optional<StackFrame> ucx_frame(const std::vector<std::string_view>& words) {
  if (words.size() < 3 || !is_number(words[0]) || !words[1].starts_with("0x") || !is_hex(words[1], 6))
    return std::nullopt;
  return StackFrame{function_of(words[2]), "", words.size() > 3 ? source_in(words.back()) : ""};
}

// ifort: IMAGE  PC  ROUTINE  LINE  SOURCE
std::optional<StackFrame> ifort_frame(const std::vector<std::string_view>& words) {
  if (words.size() < 5 || !is_hex(words[1], 16) || words[1].size() != 16) return std::nullopt;
  StackFrame frame{words[2] == "Unknown" ? "" : name_of(words[2]), name_of(words[0]), ""};
  if (is_number(words[3])) frame.source = name_of(words[4]) + ':' + std::string(words[3]);
  return frame;
}

// Julia: FUNCTION at LIBRARY (unknown line), or at FILE:LINE
std::optional<StackFrame> julia_frame(std::string_view text) {
  constexpr std::string_view unknown = " (unknown line)";
  const std::size_t at = text.find(" at ");
  if (at == npos || at == 0 || text.find(' ') < at) return std::nullopt;
  const std::string_view place = text.substr(at + 4);
  if (place.ends_with(unknown))
    return StackFrame{function_of(text.substr(0, at)),
                      name_of(file_name_of(place.substr(0, place.size() - unknown.size()))), ""};
  const std::string source = source_in(place);
  if (source.empty() || !place.starts_with('/')) return std::nullopt;
  return StackFrame{function_of(text.substr(0, at)), "", source};
}

// The JVM's problematic frame: # C  [libfoo.so+0x12]  FUNCTION+0x3
std::optional<StackFrame> jvm_frame(std::string_view text) {
  constexpr std::string_view begin = "# C  [";
  const std::size_t end = text.find(']');
  if (!text.starts_with(begin) || end == npos) return std::nullopt;
  const std::string_view image = text.substr(begin.size(), end - begin.size());
  return StackFrame{function_of(text.substr(end + 1)), name_of(image.substr(0, image.find("+0x"))), ""};
}

// Of Python's standard library or of an installed package: the program calls it.
bool is_installed(std::string_view path) {
  constexpr std::array parts = {"/lib/python", "/lib64/python", "/site-packages/", "/dist-packages/",
                                "<frozen "};
  return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return path.find(part) != npos; });
}

// Python's faulthandler: File "/path/x.py", line 12 in FUNCTION
std::optional<StackFrame> faulthandler_frame(std::string_view text) {
  constexpr std::string_view begin = "File \"", middle = "\", line ", in = " in ";
  const std::size_t end = text.find(middle), name = text.find(in, end == npos ? text.size() : end);
  if (!text.starts_with(begin) || end == npos || name == npos) return std::nullopt;
  const std::string_view number = text.substr(end + middle.size(), name - end - middle.size());
  if (!is_number(number)) return std::nullopt;
  const std::string_view path = text.substr(begin.size(), end - begin.size());
  return StackFrame{name_of(text.substr(name + in.size())), "",
                    name_of(file_name_of(path)) + ':' + std::string(number), is_installed(path)};
}

bool is_file(std::string_view image, std::string_view stem) {
  return image.starts_with(stem) &&
         (image.size() == stem.size() || image[stem.size()] == '.' || image[stem.size()] == '-');
}

// Frames of the C library and of those who print the stack: the caller of the first is where it crashed.
bool is_of_system(const StackFrame& frame) {
  constexpr std::array images = {"libc",        "libpthread", "ld-linux-x86-64", "libgcc_s",    "libstdc++",
                                 "libucs",      "libm",       "linux-vdso",      "libgfortran", "libifcore",
                                 "libifcoremt", "libjvm",     "libasan",         "libexecinfo", "libSegFault",
                                 "libopen-pal"};
  constexpr std::array functions = {
      "raise",         "abort",          "gsignal",         "kill",           "killpg",
      "__restore_rt",  "__GI_",          "__funlockfile",   "for__signal_",   "MPIR_Err_",
      "__assert_fail", "__libc_",        "__kernel_",       "ucs_",           "__cxa_",
      "_Unwind_",      "std::terminate", "pthread_kill",    "__pthread_kill", "MPIR_Abort",
      "PMPI_Abort",    "MPI_Abort",      "ompi_mpi_abort",  "_start",         "__run_exit",
      "exit",          "sighandler",     "<signal handler", "backtrace",      "print_stack"};
  const auto of_image = [&](const char* stem) { return is_file(frame.image, stem); };
  const auto of_function = [&](const char* name) {
    const std::string_view known(name);
    const bool is_prefix = known.ends_with('_') || known.starts_with('<') || known.ends_with("::terminate");
    return is_prefix ? frame.function.starts_with(known) : frame.function == known;
  };
  const bool is_assembler = frame.source.find(".S:") != npos;  // glibc's strlen, memcpy
  return is_assembler || std::any_of(images.begin(), images.end(), of_image) ||
         std::any_of(functions.begin(), functions.end(), of_function);
}

bool names_something(const StackFrame& frame) {
  if (frame.function.empty() && frame.source.empty()) return frame.image.find(".so") != std::string::npos;
  return true;
}

}  // namespace

std::optional<StackFrame> parse_stack_frame(std::string_view text) {
  text = trim(text);
  if (text.size() < 8) return std::nullopt;
  if (auto frame = glibc_frame(text)) return frame;
  if (auto frame = gdb_frame(text)) return frame;
  if (auto frame = jvm_frame(text)) return frame;
  if (auto frame = faulthandler_frame(text)) return frame;
  const auto words = split_blanks(text);
  if (auto frame = ucx_frame(words)) return frame;
  if (auto frame = ifort_frame(words)) return frame;
  return julia_frame(text);
}

std::string render_frame(const StackFrame& frame) {
  const std::string& place = frame.source.empty() ? frame.image : frame.source;
  if (frame.function.empty()) return place;
  return place.empty() ? frame.function : frame.function + " (" + place + ")";
}

void NativeStack::begin(const ReadLine& line) {
  if (site_ || is_attentive()) return;
  rank_ = line.prefix.rank;
  has_frames_ = is_last_ = false;
  in_other_thread_ = trim(line.prefix.text).starts_with("Thread 0x");
  lines_left_ = max_lines;
}

// Python's faulthandler prints the stacks of all threads; that of the crash begins with "Current thread".
bool NativeStack::leaves_python_thread(std::string_view text) {
  if (text.starts_with("Current thread 0x")) in_other_thread_ = false;
  if (text.starts_with("Thread 0x")) in_other_thread_ = true;
  const bool ends = site_ && site_->is_installed && (text.empty() || in_other_thread_);
  if (ends) lines_left_ = 0;
  return ends || in_other_thread_;
}

void NativeStack::take(const ReadLine& line) {
  if (line.prefix.rank != rank_) return;
  --lines_left_;
  const std::string_view text = trim(line.prefix.text);
  // gfortran's source stands on the line after the frame.
  if (std::exchange(is_last_, false) && text.starts_with("at ") && site_->source.empty())
    site_->source = source_in(text.substr(3));
  if (leaves_python_thread(text)) return;
  const auto frame = parse_stack_frame(text);
  // A static function has no name in the stack: its caller in the same library has.
  const bool is_caller = frame && site_ && site_->function.empty() && !frame->function.empty() &&
                         frame->image == site_->image && line.source == source_;
  if (is_caller) {
    site_->function = frame->function;
    lines_left_ = 0;
  }
  if (!frame) {
    if (has_frames_) lines_left_ = std::min(lines_left_, max_foreign);
    return;
  }
  has_frames_ = true;
  if (is_of_system(*frame) || !names_something(*frame)) return;
  const bool is_of_program = site_ && site_->is_installed && !frame->is_installed && line.source == source_;
  if (site_ && !is_of_program) return;
  site_ = frame;
  source_ = line.source;
  evidence_ = {line.line, sanitize(text, 300)};
  is_last_ = true;
  if (site_->is_installed) return;  // the program's own line may follow
  lines_left_ = std::min(lines_left_, site_->function.empty() && !site_->image.empty() ? callers : 1);
}

}  // namespace ddlrun::diagnose
