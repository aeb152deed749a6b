// SPDX-License-Identifier: MIT
#include "schedulers/client/job_log.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <optional>

namespace ddlrun::schedulers {

namespace {

constexpr std::uint64_t portion_bytes = 1u << 18;

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

}  // namespace ddlrun::schedulers
