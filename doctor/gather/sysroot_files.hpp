// SPDX-License-Identifier: MIT
// Short reads below GatherContext::root: lines and lists of names from /sys, /proc and /dev.
#pragma once

#include "doctor/model/gather.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

class SysrootFiles {
 public:
  explicit SysrootFiles(const GatherContext& context) : context_(context) {}

  // The file's text as it is; nothing where it is missing, unreadable or larger than `max_bytes`.
  std::optional<std::string> read(std::string_view path, std::uint64_t max_bytes = 64 * 1024) const;
  // The same without blanks at its ends.
  std::optional<std::string> line(std::string_view path) const;
  std::optional<std::uint64_t> number(std::string_view path) const;      // decimal
  std::optional<std::uint64_t> hex_number(std::string_view path) const;  // "0x030200"
  std::vector<std::string> list(std::string_view dir) const;             // names, sorted; {} if unreadable
  std::optional<std::string> link(std::string_view path) const;          // what a symbolic link holds
  bool exists(std::string_view path) const;
  // "rw", "no access" or "missing".
  std::string_view access(std::string_view path) const;

  std::string at(std::string_view path) const { return context_.root + std::string(path); }

 private:
  const GatherContext& context_;
};

// Sets `name` to the file's line where there is one.
void set_line(Facts& facts, std::string_view name, const std::optional<std::string>& line);

}  // namespace ddlrun::doctor
