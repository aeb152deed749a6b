// SPDX-License-Identifier: MIT
// A rank's part of the timeline, cut short or damaged.
#include "runtime/telemetry/timeline_part.hpp"

#include "fuzz/fuzz_target.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace ddlrun;

DDLRUN_FUZZ_TARGET(timeline_part) {
  const int file = memfd_create("part", MFD_CLOEXEC);
  fuzz::require(file >= 0 && write(file, input.data(), input.size()) == static_cast<ssize_t>(input.size()),
                "a file in memory can be made");
  const auto part = fuzz::accepted([&] { return runtime::read_part(fmt::format("/proc/self/fd/{}", file)); });
  close(file);
  if (!part) return;
  for (const runtime::PartSpan& span : part->spans)
    fuzz::require(span.name < part->names.size(), "a span has a name");
}
