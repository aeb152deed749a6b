// SPDX-License-Identifier: MIT
#include "runtime/caffe/caffe_report.hpp"

#include "base/text/text.hpp"
#include "runtime/core/error_list.hpp"
#include "runtime/models/net.hpp"

#include <fmt/format.h>

#include <utility>

namespace ddlrun::runtime {

void CaffeReport::refuse(std::string where, std::string what, std::string hint) {
  if (!full()) errors.push_back({std::move(what), std::move(where), std::move(hint)});
}

void CaffeReport::add_note(std::string where, std::string what, std::string hint) {
  notes.push_back({std::move(what), std::move(where), std::move(hint)});
}

void CaffeReport::check() const {
  if (!errors.empty()) throw join_errors(errors);
}

std::vector<Message> CaffeReport::all_notes(const std::string& file) const {
  std::vector<Message> all = notes;
  std::vector<std::string> words;
  for (const auto& [name, count] : unused) {
    words.push_back(count == 1 ? name : fmt::format("{} ({} times)", name, count));
  }
  if (!words.empty()) {
    all.push_back({fmt::format("ignored: {}; results do not depend on it", join(words, ", ")), file,
                   "ddl-train --help   # display, test and snapshot have their own options"});
  }
  return all;
}

}  // namespace ddlrun::runtime
