// SPDX-License-Identifier: MIT
// The reader and the linter of rankfiles: a mended file stays as it is, and findings can be printed.
#include "fuzz/fuzz_target.hpp"
#include "topology/rankfile/rankfile_fix.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

using namespace ddlrun;

DDLRUN_FUZZ_TARGET(rankfile) {
  static const topology::MachineTopology machine = topology::regular_machine(2, 4, 2, "fuzz");
  const unsigned choice = fuzz::take_byte(input);
  rankfile::CheckContext context;
  context.mpi_major = choice % 2 == 0 ? 4 : 5;
  if (choice & 2U) context.machine_of = [](std::string_view) { return &machine; };
  if (choice & 4U) context.dims = topology::Dims{2, 2, 1, 1};
  if (choice & 8U) context.allocation = {"h1", "h2"};
  for (const rankfile::RankfileFinding& finding : rankfile::check_rankfile(input, context))
    fuzz::require_printable(rankfile::render_finding("job.rf", finding));
  const rankfile::FixedRankfile fixed = rankfile::fix_rankfile(input, context);
  fuzz::require(fixed.remaining == rankfile::check_rankfile(fixed.text, context),
                "the remaining findings are those of the mended file", fixed.text);
  fuzz::require(rankfile::fix_rankfile(fixed.text, context).text == fixed.text,
                "mending a mended rankfile changes nothing", fixed.text);
  fuzz::accepted([&] { return rankfile::parse_rank_lines(input); });
}
