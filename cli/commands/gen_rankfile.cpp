// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/machine_flags.hpp"
#include "cli/plan_flags.hpp"
#include "topology/plan_options.hpp"
#include "topology/plan_view.hpp"
#include "topology/rankfile/formats.hpp"
#include "topology/sources/job_machines.hpp"

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

using namespace topology;

namespace {

using topology::Plan;

struct GenRankfileOptions {
  std::string dims, hosts, hostfile;
  std::string format = "ompi4";
  PlanTexts plan;
  bool stamp = false, strict = false, explain = false, json = false;
  MachineOptions machine;
};

std::string render_time(std::chrono::system_clock::time_point now) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::chrono::system_clock::to_time_t(now)));
}

Plan make_plan(System& system, const GenRankfileOptions& options) {
  if (options.dims.empty()) {
    throw Error(ErrorKind::usage, {"no dims given", "", "ddlrun gen-rankfile 4x2x1 h1,h2"});
  }
  const topology::Dims dims = topology::parse_dims(options.dims);
  auto hosts = read_host_names(system, options.hosts, options.hostfile);
  if (hosts.empty() && dims.host_count() == 1) hosts = {system.environment.host_name};
  if (hosts.empty()) {
    throw Error(ErrorKind::usage,
                {fmt::format("{} needs {} hosts, none given", topology::render_dims(dims), dims.host_count()),
                 "", fmt::format("ddlrun gen-rankfile {} h1,h2,...", options.dims)});
  }
  topology::check_hosts(dims, hosts);
  if (rankfile::find_format(options.format).is_open_mpi)
    rankfile::check_rankfile_names(hosts, options.format == "ompi5" ? 5 : 4);
  const auto plan_options = parse_plan_options(options.plan);
  JobMachines job =
      find_job_machines(system, hosts, options.machine, options.strict ? Unprobed::refuse : Unprobed::assume);
  return topology::plan_job(dims, std::move(hosts), job.machines, std::move(job.machine_of_host),
                            plan_options);
}

int run_gen_rankfile(System& system, const GenRankfileOptions& options) {
  const Plan plan = make_plan(system, options);
  const std::string stamp = options.stamp ? render_time(system.clock.now()) : std::string();
  const auto& format = rankfile::find_format(options.json ? "json" : options.format);
  const std::string text = format.render(plan, {DDLRUN_VERSION, stamp});
  const std::string numbers = topology::remark_on_numbers(options.machine);
  if (!format.is_open_mpi && !numbers.empty()) system.err("ddlrun: note: " + numbers + "\n");
  for (const auto& machine : plan.machines) {
    for (const std::string& remark : machine.remarks) system.err("ddlrun: note: " + remark + "\n");
  }
  if (options.explain) system.err(topology::render_explanation(plan));
  system.out(text);
  return 0;
}

std::string format_help() {
  std::string text = "form of the output:";
  for (const auto& format : rankfile::formats()) text += fmt::format(" {}", format.name);
  return text;
}

}  // namespace

Subcommand gen_rankfile_command() {
  Subcommand command;
  command.name = "gen-rankfile";
  command.summary = "write a rankfile: the host and the cores of each rank";
  command.examples =
      R"(  ddlrun gen-rankfile 4x2x3 h1,h2,h3,h4,h5,h6 > 4x2x3.rf    # asks the hosts over ssh for their cores
  ddlrun gen-rankfile 4x2x1 ib1,ib2 --sockets 2 --cores 8    # two 8-core packages in each host
  ddlrun gen-rankfile 4x2 'node[01-02]' --format slurm       # the same plan for srun)";
  command.notes =
      R"(The default form is byte for byte the file of rank_gen.py. If no host answers, gen-rankfile assumes
two 10-core packages, as rank_gen.py does, and says so; --strict makes this an error.)";
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<GenRankfileOptions>();
    app.add_option("DIMS", options->dims,
                   "ranks per host x hosts per rack x racks [x aisles], for example 4x2x3");
    app.add_option("HOSTS", options->hosts, "h1,h2 or node[01-04,7]-ib or @hostfile, rack by rack");
    app.add_option("--hostfile", options->hostfile,
                   "read hosts from FILE (form of Open MPI, MPICH, PBS or Slurm)")
        ->type_name("FILE");
    add_plan_options(app, options->plan);
    app.add_option("--format", options->format, format_help())->type_name("FORMAT");
    add_machine_options(app, options->machine);
    app.add_flag("--strict", options->strict,
                 "fail instead of assuming rank_gen.py's two 10-core packages when no host answers");
    app.add_flag("--stamp", options->stamp, "write the time into the first line");
    app.add_flag("--explain", options->explain, "explain the cores of each rank on stderr");
    app.add_flag("--json", options->json, "same as --format json");
    return [options](System& system) { return run_gen_rankfile(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
