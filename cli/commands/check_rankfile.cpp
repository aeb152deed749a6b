// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/printable_path.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/machine_flags.hpp"
#include "cli/option_values.hpp"
#include "topology/rankfile/rankfile_check_json.hpp"
#include "topology/rankfile/rankfile_fix.hpp"
#include "topology/sources/job_machines.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace ddlrun::cli {

using namespace topology;

namespace {

using rankfile::CheckContext;
using rankfile::RankfileFinding;
using topology::MachineTopology;

struct CheckRankfileOptions {
  std::string file, ranks, dims, hosts, hostfile;
  std::string mpi = "4";
  bool fix = false, json = false;
  MachineOptions machine;
};

std::string read_rankfile(System& system, const std::string& file) {
  if (file.empty()) {
    throw Error(ErrorKind::usage, {"no rankfile given", "", "ddlrun check-rankfile job.rf"});
  }
  return system.files.read(file, rankfile::max_rankfile_bytes);
}

// The machine for every host of the file, if there is one to judge cores by.
std::optional<MachineTopology> machine_of_rankfile(System& system, const CheckRankfileOptions& options,
                                                   const std::string& text) {
  if (any_given(options.machine)) return machine_from_options(system, options.machine);
  const auto lines = rankfile::parse_rank_lines(text);
  if (lines.empty()) return std::nullopt;
  for (const auto& line : lines) {
    if (!is_this_host(system.environment, line.host)) return std::nullopt;
  }
  return this_machine(system);
}

// Open MPI folds the names of the launching host into each other; any of them will do.
void read_allocation(System& system, const CheckRankfileOptions& options, rankfile::CheckContext& context) {
  context.allocation = read_host_names(system, options.hosts, options.hostfile);
  const bool has_us = std::ranges::any_of(
      context.allocation, [&](const std::string& name) { return is_this_host(system.environment, name); });
  if (has_us) context.aliases = system.environment.own_names;
}

CheckContext make_context(System& system, const CheckRankfileOptions& options) {
  CheckContext context;
  if (!options.ranks.empty()) {
    const auto ranks = parse_unsigned(options.ranks, topology::max_ranks);
    if (!ranks || *ranks == 0) {
      throw Error(ErrorKind::usage, {fmt::format("-n must be a number from 1 to {}, not \"{}\"",
                                                 topology::max_ranks, printable(options.ranks, 40)),
                                     "-n", "ddlrun check-rankfile job.rf -n 8"});
    }
    context.ranks = static_cast<std::uint32_t>(*ranks);
  }
  if (!options.dims.empty()) context.dims = topology::parse_dims(options.dims);
  if (options.mpi != "4" && options.mpi != "5") {
    throw Error(ErrorKind::usage,
                {fmt::format("--mpi must be 4 or 5, not \"{}\"", printable(options.mpi, 40)), "--mpi",
                 "--mpi 4 for Open MPI 4.x, --mpi 5 for 5.x"});
  }
  context.mpi_major = options.mpi == "5" ? 5 : 4;
  read_allocation(system, options, context);
  return context;
}

// What was not checked, and how to check it; "" where all was.
std::string render_unchecked(const CheckRankfileOptions& options, bool cores_checked) {
  const bool hosts_checked = !options.hosts.empty() || !options.hostfile.empty() ||
                             (cores_checked && !any_given(options.machine));  // the lines are for this host
  if (cores_checked && hosts_checked) return "";
  const char* const option = cores_checked ? "--hosts LIST" : "--topology node.xml";
  return fmt::format("{} were not checked: {}, or ddlrun doctor --rankfile {}",
                     cores_checked   ? "hosts"
                     : hosts_checked ? "cores"
                                     : "hosts and cores",
                     option, options.file == "-" ? "FILE" : printable_path(quote_shell(options.file)));
}

// The last line, on stderr: the verdict on a file without findings, and what was not checked.
std::string render_verdict(const CheckRankfileOptions& options, const std::string& text, bool praise,
                           bool cores_checked) {
  const std::size_t lines = rankfile::parse_rank_lines(text).size();
  if (lines == 0 && !praise) return "";
  const std::string unchecked = render_unchecked(options, cores_checked);
  if (!praise)
    return cores_checked ? "" : fmt::format("ddlrun: {}: {}\n", printable_path(options.file), unchecked);
  return fmt::format("ddlrun: {}: {}, {} rank line{}{}{}\n", printable_path(options.file),
                     cores_checked ? "ok" : "the form is right", lines, lines == 1 ? "" : "s",
                     cores_checked ? ", every core is there" : "", unchecked.empty() ? "" : "; " + unchecked);
}

int run_fix(System& system, const CheckRankfileOptions& options, const std::string& text,
            const CheckContext& context) {
  const auto fixed = rankfile::fix_rankfile(text, context);
  if (rankfile::has_errors(fixed.remaining)) {
    system.err(rankfile::render_findings(options.file, text, fixed.remaining));
    system.err(render_message(
        "ddlrun", "error",
        {"the file was not fixed: what is listed above is not for a program to decide", options.file,
         "mend those lines by hand, or write the file again with ddlrun gen-rankfile"}));
    return 1;
  }
  system.err(rankfile::render_findings(options.file, text, rankfile::check_rankfile(text, context)));
  system.out(fixed.text);
  return rankfile::needs_attention(fixed.remaining) ? 1 : 0;
}

int run_check_rankfile(System& system, const CheckRankfileOptions& options) {
  if (options.fix && options.json) {
    throw Error(ErrorKind::usage, {"--fix prints a rankfile, --json a report", "", "one of the two"});
  }
  CheckContext context = make_context(system, options);
  const std::string text = read_rankfile(system, options.file);
  const auto machine = machine_of_rankfile(system, options, text);
  if (machine) context.machine_of = [&machine](std::string_view) { return &*machine; };
  if (options.fix) {
    const int status = run_fix(system, options, text, context);
    system.err(render_verdict(options, text, false, machine.has_value()));
    return status;
  }
  const auto findings = rankfile::check_rankfile(text, context);
  if (options.json) {
    system.out(
        rankfile::render_findings_json(options.file, findings, machine.has_value(), context.mpi_major));
  } else {
    system.out(coloured_report(system.environment, rankfile::render_findings(options.file, text, findings)));
  }
  system.err(render_verdict(options, text, findings.empty() && !options.json, machine.has_value()));
  return rankfile::needs_attention(findings) ? 1 : 0;
}

}  // namespace

Subcommand check_rankfile_command() {
  Subcommand command;
  command.name = "check-rankfile";
  command.summary = "find the lines of a rankfile that Open MPI rejects, misreads or crashes on";
  command.examples = R"(  ddlrun check-rankfile job.rf --topology node.xml -n 8
  ddlrun check-rankfile job.rf --hostfile hosts --sockets 2 --cores 10
  ddlrun check-rankfile pasted.rf --fix > job.rf)";
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<CheckRankfileOptions>();
    app.add_option("FILE", options->file, "the rankfile; -: stdin");
    app.add_option("-n,--np", options->ranks, "number of ranks that mpirun will start")->type_name("N");
    app.add_option("--dims", options->dims,
                   "ranks per host x hosts per rack x racks [x aisles], for example 4x2x3")
        ->type_name("DIMS");
    app.add_option("--hosts", options->hosts, "host names of the allocation: h1,h2 or node[01-04]")
        ->type_name("LIST");
    app.add_option("--hostfile", options->hostfile, "host names of the allocation, one a line")
        ->type_name("FILE");
    add_machine_options(app, options->machine);
    app.add_option("--mpi", options->mpi,
                   "major version of the Open MPI that will read the file: 4 (default) or 5")
        ->type_name("4|5");
    app.add_flag("--fix", options->fix, "print the corrected file; fails if a correction is ambiguous");
    app.add_flag("--json", options->json, "print one JSON document");
    return [options](System& system) { return run_check_rankfile(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
