// SPDX-License-Identifier: MIT
// read-topology, hidden: the child in which foreign hwloc input is loaded. Prints ddlrun.topo/1, or hwloc's
// XML.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "topology/cuda_reader.hpp"
#include "topology/cuda_report.hpp"
#include "topology/hwloc_reader.hpp"
#include "topology/machine_json.hpp"
#include "topology/sources/topology_child.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace ddlrun::cli {

using namespace topology;
namespace {

using topology::HwlocMachine;

struct ReadOptions {
  std::string file, synthetic, cuda_plugin;
  bool this_host = false;
  bool marked = false;  // the document begins behind a marker line
  bool xml = false;
};

constexpr std::string_view marker = "ddlrun-topology-follows\n";

[[noreturn]] void refuse(std::string what, const std::string& where) {
  throw Error(ErrorKind::request,
              {std::move(what), where, "make it on that machine: lstopo machine.xml, or ddlrun topo --json"});
}

std::string read_document(System& system, const ReadOptions& options, const std::string& where) {
  std::string bytes = system.files.read(options.file, max_topology_bytes);
  if (options.marked) {
    const std::size_t at = bytes.find(marker);
    if (at == std::string::npos) refuse("the host did not answer", where);
    bytes.erase(0, at + marker.size());
    if (trim(bytes).empty()) refuse("neither ddlrun nor lstopo is there", where);
  }
  return bytes;
}

std::string render(const HwlocMachine& machine, const ReadOptions& options) {
  return options.xml ? machine.xml() : render_machine_json(machine.machine(""));
}

std::string read_file(System& system, const ReadOptions& options) {
  const std::string where = options.marked ? "" : printable(options.file);
  const std::string bytes = read_document(system, options, where);
  const std::string_view text = trim(bytes);
  if (text.empty()) refuse("the file is empty", where);
  if (text.front() == '<') return render(HwlocMachine::from_xml(bytes, where), options);
  if (text.front() != '{') {
    refuse("this is neither hwloc XML nor a saved machine: it begins with '" + printable(text, 20) + "'",
           where);
  }
  const auto machine = topology::parse_machine_json(bytes, where);
  if (options.xml) refuse("a saved ddlrun.topo/1 document does not hold hwloc's XML", where);
  return render_machine_json(machine);
}

int run_read_topology(System& system, const ReadOptions& options) {
  if (!options.cuda_plugin.empty()) {
    system.out(render_cuda_json(topology::read_cuda(options.cuda_plugin)));
  } else if (!options.file.empty()) {
    system.out(read_file(system, options));
  } else if (!options.synthetic.empty()) {
    system.out(render(HwlocMachine::from_synthetic(options.synthetic), options));
  } else if (options.this_host) {
    system.out(render(HwlocMachine::this_host(), options));
  } else {
    throw Error(ErrorKind::usage, {"read-topology needs something to read", "", "ddlrun topo"});
  }
  return 0;
}

}  // namespace

Subcommand read_topology_command() {
  Subcommand command;
  command.name = "read-topology";
  command.summary = "read a machine for another ddlrun process";
  command.examples = "  ddlrun read-topology --file machine.xml";
  command.hidden = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<ReadOptions>();
    app.add_option("--file", options->file, "hwloc XML or a saved machine")->type_name("FILE");
    app.add_option("--synthetic", options->synthetic, "hwloc's synthetic form")->type_name("SPEC");
    app.add_option("--cuda", options->cuda_plugin, "load this CUDA plug-in")->type_name("FILE");
    app.add_flag("--this-host", options->this_host, "this host, as hwloc's variables describe it");
    app.add_flag("--marked", options->marked, "skip all lines up to the marker line");
    app.add_flag("--xml", options->xml, "print hwloc's XML");
    return [options](System& system) { return run_read_topology(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
