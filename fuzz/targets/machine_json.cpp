// SPDX-License-Identifier: MIT
// Saved machines and CUDA reports: what is written is read alike, and can be shown.
#include "topology/machine_json.hpp"

#include "fuzz/fuzz_target.hpp"
#include "topology/cuda_report.hpp"
#include "topology/machine_svg.hpp"
#include "topology/machine_text.hpp"

using namespace ddlrun;

DDLRUN_FUZZ_TARGET(machine_json) {
  if (const auto machine = fuzz::accepted([&] { return topology::parse_machine_json(input, "m.json"); })) {
    const std::string text = topology::render_machine_json(*machine);
    fuzz::require(topology::parse_machine_json(text, "m.json") == *machine, "a machine is read as written",
                  text);
    fuzz::require_printable(topology::render_machine_text(*machine) +
                            topology::render_machine_summary(*machine));
    topology::render_machine_svg(*machine, {});
  }
  if (const auto report = fuzz::accepted([&] { return topology::parse_cuda_json(input, "plug-in"); })) {
    const std::string text = topology::render_cuda_json(*report);
    fuzz::require(topology::parse_cuda_json(text, "plug-in") == *report, "a report is read as written", text);
    fuzz::require_printable(topology::render_cuda_text(*report));
  }
}
