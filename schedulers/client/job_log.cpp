// SPDX-License-Identifier: MIT
#include "schedulers/client/job_log.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ddlrun::schedulers {

namespace {

constexpr std::uint64_t portion_bytes = 1u << 18;
constexpr std::size_t max_shown_path = 4096;

}  // namespace

bool JobLog::take(System& system, const std::function<void(std::string_view bytes)>& sink) {
  bool any = false;
  while (true) {
    std::optional<FilePart> part;
    try {
      part = system.files.read_from(path_, offset_, portion_bytes);
    } catch (const Error& error) {
      if (!unreadable_) system.err(render_message("ddlrun", "warning", error.message()));
      unreadable_ = true;
      return any;
    }
    unreadable_ = false;
    if (!part) return any;
    seen_ = true;
    if (part->size < offset_) {
      system.err(fmt::format("ddlrun: {} starts over\n", printable(path_)));
      offset_ = 0;
      continue;
    }
    if (part->bytes.empty()) return any;
    sink(part->bytes);
    offset_ += part->bytes.size();
    at_line_start_ = part->bytes.back() == '\n';
    any = true;
  }
}

void JobLog::skip_to_end(System& system) {
  const auto part = system.files.read_from(path_, 0, 0);
  if (!part) return;
  seen_ = true;
  offset_ = part->size;
}

void LogPrinter::add(const std::string& path, Title title) {
  if (!path.empty() && paths_.insert(path).second) logs_.push_back({JobLog(path), title});
}

void LogPrinter::skip_to_end(System& system) {
  for (TitledLog& one : logs_) one.log.skip_to_end(system);
}

bool LogPrinter::print_new(System& system) {
  bool any = false;
  for (std::size_t at = 0; at < logs_.size(); ++at) {
    auto& [log, title] = logs_[at];
    const bool more = log.take(system, [&, &log = log, title = title](std::string_view bytes) {
      const bool is_titled = title == Title::path || (last_ != no_log && logs_[last_].title == Title::path);
      if (last_ != at && is_titled)
        system.out(fmt::format("{}==> {} <==\n", at_line_start() ? "" : "\n",
                               printable(log.path(), max_shown_path)));
      last_ = at;
      system.out(bytes);
    });
    any = more || any;
  }
  return any;
}

void LogPrinter::end_line(System& system) const {
  if (!at_line_start()) system.out("\n");
}

bool LogPrinter::seen() const {
  return std::ranges::any_of(logs_, [](const TitledLog& one) { return one.log.seen(); });
}

}  // namespace ddlrun::schedulers
