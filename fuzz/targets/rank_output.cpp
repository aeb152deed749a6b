// SPDX-License-Identifier: MIT
// Lines of ranks with ddlrun's reports in them: what belongs to others passes byte for byte, reports are read
// as written.
#include "base/text/text.hpp"
#include "fuzz/fuzz_target.hpp"
#include "launch/rank/line_assembler.hpp"
#include "launch/rank/output_frame.hpp"
#include "launch/rank/placement_line.hpp"
#include "launch/rank/status_line.hpp"

using namespace ddlrun;
using namespace ddlrun::launch;

namespace {

constexpr std::string_view token = "t0k3n";

void check_reports(const auto& find, const auto& render, std::string_view line, std::string_view property) {
  const auto found = find(line, token);
  if (!found.report) return fuzz::require(found.rest == line, "what is no report passes whole", line);
  fuzz::require(find(render(token, *found.report), token).report == found.report, property, line);
}

}  // namespace

DDLRUN_FUZZ_TARGET(rank_output) {
  OutputReader reader(token);
  LineAssembler lines([](std::uint32_t, RankStream, std::string_view line) {
    fuzz::require(line.size() <= LineAssembler::max_line + 1, "a line of a rank is bounded");
  });
  OutputCount count;
  std::string passed;
  for (const std::string_view line : split(input, '\n')) {
    const OutputReader::Taken taken = reader.take(line);
    if (taken.piece) {
      lines.take(*taken.piece);
      count.take(*taken.piece);
    }
    passed += taken.rest;
    check_reports(find_status_line, render_status_line, line, "a report is read as written");
    check_reports(find_placement_line, render_placement_line, line, "a place is read as written");
  }
  passed += reader.finish();
  lines.flush();
  if (input.find(token) == std::string_view::npos) {
    std::string without_ends(input);
    std::erase(without_ends, '\n');
    std::erase(passed, '\n');
    fuzz::require(passed == without_ends, "output of others passes byte for byte", passed);
  }
}
