// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/detect.hpp"
#include "launch/frameworks/gflags.hpp"
#include "launch/frameworks/python_imports.hpp"
#include "launch/plan/find_program.hpp"
#include "launch/plan/job_framework.hpp"
#include "launch/plan/linked_libraries.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::cli {

namespace {

using frameworks::Detection;
using frameworks::Framework;

constexpr std::uint64_t most_tasks = 4096;

// The first part of a program's script; "" where it cannot be read: that is for the ranks to tell.
std::string read_script(System& system, const Command& program, frameworks::DetectRequest& request) {
  const auto at = frameworks::find_script(program);
  if (!at) return {};
  const std::string path = *at == 0 ? find_program(system, program[0]) : program[*at];
  request.script_name = program[*at];
  try {
    const auto part = system.files.read_from(path, 0, frameworks::most_script_bytes);
    return part ? part->bytes : std::string();
  } catch (const Error&) {
    return {};
  }
}

// Only for what speaks like Caffe: its libraries tell Intel's from others.
std::vector<std::string> caffe_libraries(System& system, const Command& program) {
  const bool trains =
      std::ranges::find(program, "train") != program.end() && frameworks::find_gflag(program, "solver");
  return trains ? read_program_libraries(system, program).names : std::vector<std::string>();
}

Detection detect(System& system, const Command& program) {
  if (program.empty() || program[0].empty() || program[0].starts_with('-')) return {};  // the trainer
  frameworks::DetectRequest request;
  request.program = program;
  request.script = read_script(system, program, request);
  request.libraries = caffe_libraries(system, program);
  return frameworks::detect_framework(request);
}

std::uint32_t parse_tasks(const std::string& text, const char* option) {
  if (text.empty()) return 0;
  const auto number = parse_unsigned(text, most_tasks);
  if (number) return static_cast<std::uint32_t>(*number);
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is not a number from 0 to {}", printable(text, 40), most_tasks), option,
               "--ps 2 --workers 3"});
}

void settle_tasks(LaunchOptions& options, const Detection& seen) {
  FrameworkOptions& own = options.framework;
  own.ps_tasks = parse_tasks(own.ps, "--ps");
  own.worker_tasks = parse_tasks(own.workers, "--workers");
  const bool given = !own.ps.empty() || !own.workers.empty();
  if (given && own.framework == "auto") own.chosen = Framework::tensorflow_ps;
  if (given && own.chosen != Framework::tensorflow_ps) {
    throw Error(ErrorKind::usage,
                {fmt::format("--ps and --workers are TensorFlow's, the framework is {}", name_of(own.chosen)),
                 "--ps", "--framework tensorflow-ps, or DIMS instead"});
  }
  if (own.chosen != Framework::tensorflow_ps) return;
  if (own.ps_tasks > 0 && own.worker_tasks > 0) {
    if (options.dims.empty() && options.rankfile.empty() && options.host_ranks.empty()) return;
    throw Error(ErrorKind::usage,
                {"--ps and --workers say how many ranks there are; DIMS or a rankfile do so too",
                 !options.host_ranks.empty() ? "-H"
                 : options.dims.empty()      ? "--rankfile"
                                             : printable(options.dims, 40),
                 "one of the two"});
  }
  if (own.framework != "auto" || given)
    throw Error(ErrorKind::usage, {"how many parameter servers and workers is not said", "--ps and --workers",
                                   "--ps 1 --workers 2"});
  own.chosen = Framework::none;
  own.remarks.push_back(fmt::format("framework none: {}; --ps 1 --workers 2 starts its tasks", seen.why));
}

void settle_style(LaunchOptions& options, const Detection& seen) {
  FrameworkOptions& own = options.framework;
  if (own.chief && own.chosen != Framework::tensorflow_ps)
    throw Error(ErrorKind::usage,
                {"--chief is for parameter servers", "--chief", "--ps 2 --workers 3 --chief"});
  if (seen.chief && !own.chief && own.worker_tasks > 0) {
    own.chief = true;
    own.remarks.push_back(
        "one task more, the chief: the script's ParameterServerStrategy is run by it (as --chief)");
  }
  if (own.tf_style.empty()) {
    own.flags_style = seen.flags_style;
  } else if (own.tf_style == "config" || own.tf_style == "flags") {
    own.flags_style = own.tf_style == "flags";
  } else {
    throw Error(ErrorKind::usage,
                {fmt::format("'{}' is neither config nor flags", printable(own.tf_style, 40)), "--tf-style",
                 "--tf-style flags"});
  }
}

// HorovodRunner's np: -n is n ranks here, n is n ranks over the hosts.
void settle_np(LaunchOptions& options) {
  const std::string& np = options.framework.np;
  if (np.empty()) return;
  options.framework.wants_result = true;
  const bool here = np.starts_with('-');
  const auto number = parse_unsigned(std::string_view(np).substr(here ? 1 : 0), topology::max_ranks);
  if (!number || *number == 0)
    throw Error(ErrorKind::usage, {fmt::format("'{}' is no number of ranks", printable(np, 40)), "--np",
                                   "--np 8, or --np -4 for 4 ranks here"});
  const bool counted = !options.host_ranks.empty() || !options.accelerators.empty();  // -H h1:4,h2:4
  if (!options.dims.empty() || counted || options.framework.ps_tasks > 0)
    throw Error(ErrorKind::usage,
                {"--np and something else say how many ranks there are", "--np", "one of the two"});
  if (!here) {
    options.framework.ranks = static_cast<std::uint32_t>(*number);
    return;
  }
  if (!options.hosts.empty() || !options.hostfile.empty())
    throw Error(ErrorKind::usage, {fmt::format("--np {}: {} ranks here, and hosts are named", np, *number),
                                   "--np", fmt::format("--np {}", *number)});
  options.framework.ranks_here = static_cast<std::uint32_t>(*number);
  options.dims = fmt::format("{}", *number);
}

// As --ps says that it is TensorFlow.
void settle_ddl(LaunchOptions& options) {
  FrameworkOptions& own = options.framework;
  if (own.ddl_mode.empty() && own.ddl_arguments.empty()) return;
  if (own.framework == "auto" && own.chosen == Framework::none) own.chosen = Framework::ddl;
  if (own.chosen == Framework::ddl || own.chosen == Framework::caffe_ddl) return;
  const char* const option = own.ddl_mode.empty() ? "--ddl-arg" : "--ddl-mode";
  throw Error(ErrorKind::usage, {fmt::format("{} is DDL's, the framework is {}", option, name_of(own.chosen)),
                                 option, "--framework ddl"});
}

void settle_horovod(System& system, LaunchOptions& options) {
  FrameworkOptions& own = options.framework;
  const bool given = !own.horovod.empty() || !own.horovod_config.empty();
  if (given && own.chosen != Framework::horovod) {
    const std::string place = own.horovod.empty() ? "--horovod-config" : own.horovod.begin()->second.place;
    throw Error(ErrorKind::usage,
                {fmt::format("{} is Horovod's, the framework is {}", place, name_of(own.chosen)), place,
                 "--framework horovod"});
  }
  if (own.horovod_config.empty()) return;
  frameworks::read_horovod_yaml(system.files.read(own.horovod_config, 1 << 20), own.horovod_config,
                                own.horovod);
}

}  // namespace

void resolve_positionals(LaunchOptions& options) {
  const FrameworkOptions& own = options.framework;
  if (own.np.empty() && own.ps.empty() && own.workers.empty()) return;
  const bool is_dims = options.dims.find_first_not_of("0123456789xX") == std::string::npos;
  if (is_dims || !options.hosts.empty()) return;
  options.hosts = options.dims;
  options.dims.clear();
}

LaunchOptions resolve_framework(System& system, const LaunchOptions& typed) {
  LaunchOptions options = typed;
  FrameworkOptions& own = options.framework;
  resolve_positionals(options);
  const auto named = frameworks::parse_framework(own.framework);
  const Detection seen = detect(system, options.program);
  own.chosen = named.value_or(seen.framework);
  own.needs_mpi = own.chosen == Framework::horovod || (!named && seen.needs_mpi);
  settle_tasks(options, seen);
  settle_style(options, seen);
  settle_np(options);
  settle_ddl(options);
  settle_horovod(system, options);
  if (!named && own.chosen == seen.framework && !seen.why.empty())
    own.remarks.push_back(frameworks::render_detection(seen));
  if (own.chosen == Framework::intel_caffe && options.affinity == "auto")
    options.affinity = "off";  // KMP_AFFINITY is its own
  const auto order = frameworks::usual_order(own.chosen);
  if (order == topology::RankOrder::packed && options.plan.order.empty() && options.rankfile.empty()) {
    options.plan.order = "packed";
    own.remarks.push_back(fmt::format(
        "ranks are numbered host by host, as {} assumes (--order ddl: over the hosts)", name_of(own.chosen)));
  }
  return options;
}

}  // namespace ddlrun::cli
