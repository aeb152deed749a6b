// SPDX-License-Identifier: MIT
// topo: one machine, shown as text, JSON, hwloc's XML or a picture; with the ranks of a plan drawn in.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/machine_flags.hpp"
#include "topology/dims.hpp"
#include "topology/machine_json.hpp"
#include "topology/machine_svg.hpp"
#include "topology/machine_text.hpp"
#include "topology/plan.hpp"
#include "topology/sources/cuda_probe.hpp"
#include "topology/sources/machine_loader.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <optional>

namespace ddlrun::cli {

using namespace topology;
namespace {

using topology::MachineTopology;

struct TopoOptions {
  MachineOptions machine;
  bool json = false;
  bool xml = false;
  bool cuda = false;
  std::string svg_file;
  std::string dims;
  std::string host;  // of a habit from other commands: refused
};

// The ranks of one host with this machine: the first host of the job.
struct Drawn {
  topology::MachinePlan plan;
  std::vector<topology::DrawnRank> ranks;
};

std::optional<Drawn> draw_ranks(const MachineTopology& machine, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const topology::Dims dims = topology::parse_dims(text);
  Drawn drawn{topology::plan_machine(machine, dims.gpus_per_node, {}), {}};
  for (std::uint32_t x = 0; x < dims.gpus_per_node; ++x) {
    const topology::LocalPlacement& place = drawn.plan.ranks[x];
    drawn.ranks.push_back({dims.rank_of({x, 0, 0, 0}, topology::RankOrder::ddl), place.cores, place.gpu});
  }
  return drawn;
}

std::string render_ranks_text(const Drawn& drawn) {
  std::string text = "\n";
  for (std::size_t i = 0; i < drawn.ranks.size(); ++i) {
    const topology::LocalPlacement& place = drawn.plan.ranks[i];
    text += fmt::format("rank {:<4} slot={:<12} {}\n", drawn.ranks[i].rank, place.slot, place.reason);
  }
  for (const std::string& remark : drawn.plan.remarks) text += fmt::format("note: {}\n", remark);
  return text;
}

void check_options(const TopoOptions& options) {
  const auto refuse = [](const char* what, const char* hint) {
    throw Error(ErrorKind::usage, {what, "", hint});
  };
  if (!options.host.empty())
    throw Error(ErrorKind::usage, {"topo shows the machine on which it runs", printable(options.host, 60),
                                   fmt::format("ssh {} ddlrun topo", quote_shell(options.host))});
  if (options.json && options.xml) refuse("--json and --xml both write to stdout: use one", "--json");
  if (options.svg_file == "-" && (options.json || options.xml)) {
    refuse("--svg - fills the output: --json and --xml cannot go with it", "--svg machine.svg");
  }
  if (!options.dims.empty() && options.svg_file.empty() && (options.json || options.xml)) {
    refuse("--ranks is for the text and the picture", "--ranks 4x2x1 --svg machine.svg");
  }
  if (options.cuda && any_given(options.machine)) {
    refuse("--cuda asks the GPUs of this host: it cannot go with another machine", "ddlrun topo --cuda");
  }
}

// The links between this host's GPUs: always where they were requested, else where there is something to say.
std::optional<topology::CudaReport> cuda_report(System& system, const TopoOptions& options,
                                                const MachineTopology& machine) {
  if (options.cuda) return read_cuda_report(system);
  if (options.json || any_given(options.machine)) return std::nullopt;
  if (machine.gpus.empty() || machine.gpus.front().vendor != "NVIDIA") return std::nullopt;
  try {
    return read_cuda_report(system);
  } catch (const Error& error) {
    system.err(render_message("ddlrun", "note", error.message()));
    return std::nullopt;
  }
}

std::string json_text(const MachineTopology& machine, const std::optional<topology::CudaReport>& cuda) {
  std::string text = topology::render_machine_json(machine);
  if (cuda) {
    text.erase(text.rfind("\n}"));
    text += fmt::format(",\n \"cuda\": {}\n}}\n", trim(topology::render_cuda_json(*cuda)));
  }
  return text;
}

int run_topo(System& system, const TopoOptions& options) {
  check_options(options);
  if (options.xml && options.svg_file.empty()) {
    system.out(xml_from_options(system, options.machine));
    return 0;
  }
  const MachineTopology machine = machine_from_options(system, options.machine);
  const std::optional<Drawn> drawn = draw_ranks(machine, options.dims);
  if (!options.svg_file.empty()) {
    const std::string svg =
        topology::render_machine_svg(machine, drawn ? drawn->ranks : std::vector<topology::DrawnRank>{});
    if (options.svg_file == "-") {
      system.out(svg);
    } else {
      system.files.write(options.svg_file, svg);
      system.err(fmt::format("ddlrun: wrote {}\n", options.svg_file));
    }
    if (options.xml) system.out(xml_from_options(system, options.machine));
    if (!options.json) return 0;
  }
  const auto cuda = cuda_report(system, options, machine);
  if (options.json) {
    system.out(json_text(machine, cuda));
    return 0;
  }
  std::string text = topology::render_machine_text(machine);
  if (drawn) text += render_ranks_text(*drawn);
  if (cuda) text += "\n" + topology::render_cuda_text(*cuda);
  system.out(text);
  return 0;
}

constexpr std::string_view topo_examples =
    R"(  ddlrun topo                                            # this machine
  ddlrun topo --topology minsky.xml --json               # another one, for programs
  ddlrun topo --sockets 2 --cores 10 --svg m.svg --ranks 4  # a picture with four ranks in it)";

}  // namespace

Subcommand topo_command() {
  Subcommand command;
  command.name = "topo";
  command.summary = "show packages, NUMA nodes, cores, GPUs and network cards of a machine";
  command.examples = topo_examples;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<TopoOptions>();
    add_machine_options(app, options->machine);
    app.add_option("HOST", options->host)->group("");
    app.add_flag("--json", options->json, "print one JSON document (ddlrun.topo/1)");
    app.add_flag("--xml", options->xml, "print hwloc's XML, as lstopo writes it");
    app.add_option("--svg", options->svg_file, "draw the machine into FILE (-: stdout)")->type_name("FILE");
    app.add_option("--ranks", options->dims,
                   "show the ranks of a plan: 4, or 4x2x1 for the ranks of its first host")
        ->type_name("DIMS");
    app.add_flag("--cuda", options->cuda, "add CUDA versions and the links between GPUs");
    return [options](System& system) { return run_topo(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
