// SPDX-License-Identifier: MIT
// Findings in Caffe's files: errors, which stop a run, and notes, which do not.
#pragma once

#include "base/text/error.hpp"

#include <map>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct CaffeReport {
  std::vector<Message> errors;
  std::vector<Message> notes;
  std::map<std::string, int> unused;  // fields that change no result, and how often they are set

  // A limit, because a hostile file could cause millions of errors.
  bool full() const { return errors.size() >= 100; }

  void refuse(std::string where, std::string what, std::string hint);
  void add_note(std::string where, std::string what, std::string hint);
  // Throws one Error of all errors, if there are any.
  void check() const;
  // The notes, those of `unused` in one.
  std::vector<Message> all_notes(const std::string& file) const;
};

}  // namespace ddlrun::runtime
