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
    const ParsedStatusLine status = find_status_line(line, token);
    if (!status.report)
      fuzz::require(status.rest == line, "what is no report passes whole", line);
    else
      fuzz::require(
          find_status_line(render_status_line(token, *status.report), token).report == status.report,
          "a report is read as written", line);
    const MarkedLine place = find_placement_line(line, token);
    if (!place.report)
      fuzz::require(place.rest == line, "what is no report passes whole", line);
    else
      fuzz::require(
          find_placement_line(render_placement_line(token, *place.report), token).report == place.report,
          "a place is read as written", line);
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
