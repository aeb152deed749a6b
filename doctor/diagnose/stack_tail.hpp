// SPDX-License-Identifier: MIT
// The lines of a call stack that follow an error, in the forms of Julia, Java, JavaScript, Rust, Go, R, C and
// gdb. They belong to the error, however many they are: they are no output of a run that goes on.
#pragma once

#include "doctor/diagnose/log_line.hpp"

#include <cstdint>
#include <string_view>

namespace ddlrun::diagnose {

// "@ Base ./loading.jl:12", "at org.x.Y.run(Y.java:3)", "#1 0x2a in main ()"
bool is_stack_line(std::string_view text);

class StackTail {
 public:
  // A line that is certainly an error.
  void begin();
  // Every line while is_attentive(). True where the line belongs to a stack.
  bool take(const ReadLine& line);
  // True while lines without any literal matter too.
  bool is_attentive() const { return lines_left_ > 0; }
  void end_source() { lines_left_ = 0; }

  // The last line of the last stack, counted over all sources; 0 for none.
  std::uint64_t last_line() const { return last_; }

 private:
  std::uint64_t last_ = 0;
  int lines_left_ = 0;
  int begun_ = 0;
  bool is_numbered_ = false;  // the frames are "[1] name", as Julia writes them
};

}  // namespace ddlrun::diagnose
