// SPDX-License-Identifier: MIT
// The stack of a crash, as Open MPI, UCX, gdb, gfortran, ifort, Julia and the JVM print it: where the process
// crashed.
#pragma once

#include "doctor/diagnose/log_line.hpp"
#include "doctor/diagnose/match.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

struct StackFrame {
  std::string function;  // without its arguments, "" if unknown
  std::string image;     // base name of the library or program, "" if unknown
  std::string source;    // "main.f90:645", "" if unknown
  bool is_installed = false;  // of Python's library or of an installed package

  bool operator==(const StackFrame&) const = default;
};

// The frame of one line, or nothing for another line:
//   [ 2] /lib/libpsm2.so.2(psm2_ep_open+0x2a)[0x7f..]     2 0x00004f2a hcoll_finalize()  hcoll.c:12
//   #3  0x7f.. in PMPI_Init () from /lib/libmpi.so.40     libhdf5.so.200  00007F.. H5T__init Unknown  Unknown
//   psm2_ep_open at /lib/libpsm2.so.2 (unknown line)      # C  [libfoo.so+0x12]  run+0x3
std::optional<StackFrame> parse_stack_frame(std::string_view text);

// "psm2_ep_open (libpsm2.so.2)", "MAIN__ (main.f90:645)".
std::string render_frame(const StackFrame& frame);

// The innermost frame of a log's first stack that is neither of the C library nor of what prints stacks; of a
// Python stack, the innermost of the program's own files, if it has one.
class NativeStack {
 public:
  // True while lines without any literal matter too.
  bool is_attentive() const { return lines_left_ > 0; }
  // A line that announces a stack: "*** Process received signal ***", "backtrace".
  void begin(const ReadLine& line);
  // Every line while is_attentive().
  void take(const ReadLine& line);
  void end_source() { lines_left_ = 0; }

  const std::optional<StackFrame>& crash_site() const { return site_; }
  // Number of the log, and the line in it.
  std::uint32_t source() const { return source_; }
  const EvidenceLine& evidence() const { return evidence_; }

 private:
  bool leaves_python_thread(std::string_view text);

  std::optional<StackFrame> site_;
  std::uint32_t source_ = 0;
  EvidenceLine evidence_;
  std::optional<std::uint32_t> rank_;  // whose stack it is
  bool has_frames_ = false, in_other_thread_ = false;
  bool is_last_ = false;  // the frame of the line before is the site; "at FILE:LINE" may follow
  int lines_left_ = 0;
};

}  // namespace ddlrun::diagnose
