// SPDX-License-Identifier: MIT
// The part of timeline.hpp that makes one file of the parts.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/telemetry/atomic_file.hpp"
#include "runtime/telemetry/timeline.hpp"
#include "runtime/telemetry/timeline_clock.hpp"
#include "runtime/telemetry/timeline_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t sent_at_once = 4 << 20;

// "FILE.rank12.part" for FILE, in the order of the ranks.
std::vector<std::string> locate_splits(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string header = whole.filename().string() + ".rank";
  std::vector<std::pair<std::uint64_t, std::string>> found;
  std::error_code problem;
  const auto directory = whole.has_parent_path() ? whole.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(directory, problem)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(header) || !name.ends_with(".part")) continue;
    const auto rank =
        parse_unsigned(std::string_view(name).substr(header.size(), name.size() - header.size() - 5));
    if (rank) found.emplace_back(*rank, (whole.parent_path() / name).string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [rank, name] : found) paths.push_back(std::move(name));
  return paths;
}

// Heads of the parts of one run: the one requested, else the last that began.
struct FoundParts {
  std::vector<std::pair<std::string, Part>> heads;
  std::vector<std::string> problems;
};

FoundParts choose_splits(const std::vector<std::string>& paths, std::uint64_t run) {
  FoundParts found;
  for (const std::string& path : paths) {
    try {
      found.heads.emplace_back(path, read_part(path, false));
    } catch (const Error& error) {
      found.problems.push_back(fmt::format("{}: {}", error.message().where, error.message().what));
    }
  }
  if (run == 0 && !found.heads.empty()) {
    const auto last = std::max_element(
        found.heads.begin(), found.heads.end(),
        [](const auto& a, const auto& b) { return a.second.facts.wall_ns < b.second.facts.wall_ns; });
    run = last->second.facts.run;
  }
  std::erase_if(found.heads, [&](const auto& header) {
    if (header.second.facts.run == run) return false;
    found.problems.push_back(printable(header.first) + ": a part of another run");
    return true;
  });
  return found;
}

TimelineReport merge_parts(const std::string& path, const FoundParts& found) {
  TimelineReport report;
  report.problems = found.problems;
  std::int64_t base = INT64_MAX;
  for (const auto& [part_path, header] : found.heads)
    base = std::min(base, align_time(header.clocks, header.facts.start_ns));
  AtomicFile file(path, {"--timeline", "the timeline"});
  TraceJson json([&](std::string_view text) { file.write(text); }, base);
  for (const auto& [part_path, header] : found.heads) {
    const Part part = read_part(part_path);
    json.add(part);
    report.ranks = part.facts.ranks;
    report.found.push_back(part.facts.rank);
    report.parts.push_back(part_path);
    report.spans += part.spans.size();
    report.dropped += part.recorded - part.spans.size();
    for (const ClockReading& reading : part.clocks)
      report.clock_error_ns = std::max(report.clock_error_ns, reading.error_ns);
  }
  json.end({{"ranks", fmt::format("{} of {}", report.found.size(), report.ranks)},
            {"spans", std::to_string(report.spans)},
            {"dropped spans (the oldest)", std::to_string(report.dropped)},
            {"largest clock difference between ranks, us",
             fmt::format("{:.3f}", 1e-3 * static_cast<double>(report.clock_error_ns))}});
  file.end();
  return report;
}

// Collective: ranks whose part rank 0 cannot read send it, one after the other, and rank 0 stores it locally.
void bring_parts(const std::string& path, const Timeline& timeline, Communicator& ranks) {
  std::string seen(static_cast<std::size_t>(ranks.size()), '1');
  if (ranks.rank() == 0) {
    for (int rank = 0; rank < ranks.size(); ++rank) {
      try {
        const Part header = read_part(part_name(path, rank), false);
        if (header.facts.run == timeline.facts().run) continue;
      } catch (const Error&) {  // not here
      }
      seen[static_cast<std::size_t>(rank)] = '0';
    }
  }
  seen = ranks.gather_all(ranks.rank() == 0 ? seen : "").at(0);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (seen[static_cast<std::size_t>(rank)] == '1') continue;
    std::ifstream in;
    std::ofstream out;
    if (ranks.rank() == rank) in.open(timeline.part(), std::ios::binary);
    if (ranks.rank() == 0) out.open(part_name(path, rank), std::ios::binary | std::ios::trunc);
    while (true) {
      std::string piece(in.is_open() ? sent_at_once : 0, '\0');
      if (in.is_open()) {
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        piece.resize(static_cast<std::size_t>(in.gcount()));
      }
      piece = ranks.gather_all(piece).at(static_cast<std::size_t>(rank));
      if (piece.empty()) break;
      if (out.is_open()) out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    }
  }
}

}  // namespace

TimelineReport merge_timeline(const std::string& path) {
  const FoundParts found = choose_splits(locate_splits(path), 0);
  if (!found.heads.empty()) return merge_parts(path, found);
  throw Error(ErrorKind::request,
              {found.problems.empty() ? "no part of a timeline was found" : join(found.problems, "; "),
               printable(part_name(path, 0)), "ddl-train --timeline " + quote_shell(path)});
}

TimelineReport finish_timeline(const std::string& path, std::unique_ptr<Timeline> timeline,
                               Communicator& ranks) {
  timeline->add_clock(read_clock(ranks));
  if (ranks.size() > 1) timeline->sync();
  bring_parts(path, *timeline, ranks);
  TimelineReport report;
  run_collectively(ranks, [&] {
    if (ranks.rank() == 0)
      report = merge_parts(path, choose_splits(locate_splits(path), timeline->facts().run));
  });
  std::remove(timeline->part().c_str());
  for (const std::string& part : report.parts) std::remove(part.c_str());
  return report;
}

std::string render_timeline_report(const std::string& path, const TimelineReport& report) {
  std::string text = fmt::format("timeline: {}, {} spans of {} of {} rank(s), clocks within {:.1f} us\n",
                                 printable(path), report.spans, report.found.size(), report.ranks,
                                 1e-3 * static_cast<double>(report.clock_error_ns));
  if (report.dropped > 0)
    text += fmt::format("timeline: {} older spans are dropped: each rank keeps the last {}\n", report.dropped,
                        timeline_bytes / 32);
  for (const std::string& problem : report.problems) text += "timeline: not included: " + problem + "\n";
  return text;
}

}  // namespace ddlrun::runtime
