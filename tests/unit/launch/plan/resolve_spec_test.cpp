// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "launch/plan/launch_spec.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace ddlrun;
using launch::AffinityMode;
using launch::LaunchFlags;
using launch::LaunchSpec;
using launch::OutputSpec;

namespace {

LaunchSpec spec_of(const LaunchFlags& flags) {
  tests::FakeSystem fake;
  fake.files.files["/hosts"] = "h1 slots=4\nh2 slots=4\n";
  fake.files.files["/bin/prog"] = "";
  fake.environment.variables["PATH"] = "/bin";
  System system = fake.interfaces();
  return launch::resolve_launch_spec(system, flags);
}

LaunchFlags with(const std::function<void(LaunchFlags&)>& change) {
  LaunchFlags flags;
  flags.program = {"prog"};
  change(flags);
  return flags;
}

// What is wrong and what to type: "WHAT | HINT"; "" if the flags are valid.
std::string refusal(const std::function<void(LaunchFlags&)>& change) {
  try {
    spec_of(with(change));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.message().what + " | " + error.message().hint;
  }
  return {};
}

}  // namespace

TEST_SUITE_BEGIN("launch/plan/resolve_spec");

TEST_CASE("without flags: one attempt, supervised, on the screen, at the documented defaults") {
  const LaunchSpec spec = spec_of(with([](LaunchFlags&) {}));
  CHECK(spec.shape.hosts.empty());
  CHECK_FALSE(spec.shape.has_ranks_per_host());
  CHECK_FALSE(spec.launcher.kind);
  CHECK(spec.launcher.mpirun == "mpirun");
  CHECK(spec.threads.affinity == AffinityMode::automatic);
  CHECK(spec.monitor.supervise);
  CHECK(spec.monitor.stall_timeout == 60);
  CHECK(spec.monitor.diagnose);
  CHECK_FALSE(spec.output.is_framed());
  CHECK_FALSE(spec.verify);
  CHECK(spec.restart.policy.most == 0);
  CHECK(spec.restart.host_timeout == std::chrono::seconds(600));
  CHECK_FALSE(spec.restart.policy.dims_were_given);
}

TEST_CASE("each flag reaches the spec, typed") {
  const LaunchSpec spec = spec_of(with([](LaunchFlags& flags) {
    flags.dims = "4x2x1";
    flags.hostfile = "/hosts";
    flags.launcher = "mpich";
    flags.mem_bind = "bind";
    flags.visible_gpus = "one";
    flags.plan.order = "packed";
    flags.threads = "3";
    flags.affinity = "libomp";
    flags.rank_output = "files";
    flags.stall_timeout = "9";
    flags.on_stall = "end";
    flags.max_restarts = "2";
    flags.on_host_failure = "shrink";
    flags.host_timeout = "7";
    flags.restart_arguments = {"--resume"};
    flags.no_diagnose = true;
    flags.strict = true;
  }));
  CHECK(spec.shape.dims == topology::Dims{4, 2, 1, 1});
  CHECK(spec.shape.hosts == std::vector<std::string>{"h1", "h2"});
  CHECK(spec.launcher.kind == launch::LauncherKind::mpich);
  CHECK(spec.placement.memory == launch::MemoryPolicy::bind);
  CHECK(spec.placement.visible_gpus == launch::GpuView::one);
  CHECK(spec.placement.plan.order == topology::RankOrder::packed);
  CHECK(spec.placement.order_is_typed);
  CHECK(spec.threads.threads == 3);
  CHECK(spec.threads.affinity == AffinityMode::libomp);
  CHECK(spec.output.writes_files());
  CHECK_FALSE(spec.output.shows());
  CHECK(spec.monitor.stall_timeout == 9);
  CHECK(spec.monitor.end_on_stall);
  CHECK_FALSE(spec.monitor.diagnose);
  CHECK(spec.verify == true);
  CHECK(spec.strict);
  CHECK(spec.restart.policy.most == 2);
  CHECK(spec.restart.policy.on_host_failure == launch::HostFailure::shrink);
  CHECK(spec.restart.policy.dims_were_given);
  CHECK(spec.restart.host_timeout == std::chrono::seconds(7));
  CHECK(spec.restart.arguments == std::vector<std::string>{"--resume"});
}

TEST_CASE("an invalid value is refused with the flag and a valid value") {
  struct Row {
    std::function<void(LaunchFlags&)> change;
    const char* refusal;
  };
  for (const Row& row : {
           Row{[](auto& f) { f.threads = "0"; },
               "--threads must be a number from 1 to 4096, not '0' | --threads 4, or omit it: one for each "
               "core "
               "of a rank"},
           Row{[](auto& f) { f.stall_timeout = "1m"; },
               "--stall-timeout must be a number from 0 to 86400, not '1m' | --stall-timeout 60   # seconds; "
               "0 "
               "turns the "
               "report off"},
           Row{[](auto& f) { f.on_stall = "stop"; },
               "--on-stall must be warn or end, not 'stop' | --on-stall end"},
           Row{[](auto& f) { f.max_restarts = "-1"; },
               "--max-restarts must be a number from 0 to 1000, not '-1' | --max-restarts 3"},
           Row{[](auto& f) { f.launcher = "mpirun"; },
               "'mpirun' is not one of auto, openmpi, mpich, intelmpi, srun, ssh | --launcher auto"},
           Row{[](auto& f) { f.mem_bind = "far"; },
               "'far' is not one of bind, local, preferred | --mem-bind bind"},
           Row{[](auto& f) { f.affinity = "of"; },
               "'of' is not one of auto, libgomp, libomp, off | --affinity off"},
           Row{[](auto& f) { f.rank_output = "file"; },
               "'file' is not one of files, prefix, screen | --rank-output files"},
       }) {
    CHECK(refusal(row.change) == row.refusal);
  }
}

TEST_CASE("flags that contradict each other are refused") {
  struct Row {
    std::function<void(LaunchFlags&)> change;
    const char* what;
  };
  for (const Row& row : {
           Row{[](auto& f) { f.verify = f.no_verify = true; }, "--verify and --no-verify conflict"},
           Row{[](auto& f) { f.strict = f.no_verify = true; }, "--strict and --no-verify conflict"},
           Row{[](auto& f) {
                 f.on_stall = "end";
                 f.no_monitor = true;
               },
               "--on-stall end and --no-monitor conflict"},
           Row{[](auto& f) {
                 f.rank_output = "files";
                 f.no_monitor = true;
               },
               "--rank-output files and --no-monitor conflict"},
           Row{[](auto& f) { f.tee = f.tag_output = true; }, "--tee and --tag-output conflict"},
           Row{[](auto& f) {
                 f.tee = true;
                 f.mpi_arguments = {"--merge-stderr-to-stdout"};
               },
               "--tee needs the ranks' stderr, which an --mpi-arg redirects"},
           Row{[](auto& f) { f.restart_arguments = {"--resume"}; },
               "--on-host-failure and --restart-arg need --max-restarts"},
           Row{[](auto& f) {
                 f.rankfile = "/rf";
                 f.max_restarts = "1";
                 f.on_host_failure = "shrink";
               },
               "--on-host-failure shrink and --rankfile conflict"},
           Row{[](auto& f) {
                 f.hosts = "h1";
                 f.hosts_option = "h2";
               },
               "hosts are given twice"},
       }) {
    CAPTURE(row.what);
    CHECK(refusal(row.change).starts_with(row.what));
  }
}

TEST_CASE("PyTorch's main thread is not pinned: its data loaders would inherit the core") {
  struct Row {
    const char *framework, *affinity;
    AffinityMode mode;
  };
  for (const Row& row :
       {Row{"pytorch", "", AffinityMode::off}, Row{"pytorch", "auto", AffinityMode::automatic},
        Row{"pytorch", "libomp", AffinityMode::libomp}, Row{"none", "", AffinityMode::automatic},
        Row{"intel-caffe", "auto", AffinityMode::off}}) {
    const LaunchSpec spec = spec_of(with([&](LaunchFlags& flags) {
      flags.framework.framework = row.framework;
      flags.affinity = row.affinity;
    }));
    CHECK(spec.threads.affinity == row.mode);
  }
}

TEST_CASE("a program in the place of HOSTS is refused with the line to type") {
  const auto text = refusal([](LaunchFlags& flags) {
    flags.program.clear();
    flags.dims = "2";
    flags.hosts = "prog";
  });
  CHECK(text == "'prog' is a program; put programs after -- | ddlrun launch 2 -- prog");
  CHECK(refusal([](LaunchFlags& flags) { flags.dims = "./prog"; }) ==
        "'./prog' is a program; put programs after -- | ddlrun launch -- ./prog");
}

TEST_CASE("with_dims replaces every other number of ranks") {
  LaunchSpec spec = spec_of(with([](LaunchFlags& flags) { flags.framework.np = "6"; }));
  CHECK(spec.shape.total_ranks == 6);
  spec = launch::with_dims(spec, topology::Dims{3, 2, 1, 1});
  CHECK(spec.shape.total_ranks == 0);
  CHECK(spec.shape.dims == topology::Dims{3, 2, 1, 1});
  CHECK(spec.framework.wants_result);
}

TEST_CASE("--bind-to core is one core for each rank, as with mpirun; without it a rank has its share") {
  const auto placement = [](const char* unit, const char* cores) {
    return spec_of(with([&](LaunchFlags& flags) {
             flags.bind_to = unit;
             flags.plan.cores_per_rank = cores;
           }))
        .placement;
  };
  CHECK(placement("", "").plan.cores_per_rank == 0);
  CHECK(placement("", "").binds);
  CHECK(placement("core", "").plan.cores_per_rank == 1);
  CHECK(placement("core", "3").plan.cores_per_rank == 3);
  CHECK(placement("none", "").plan.cores_per_rank == 0);
  CHECK_FALSE(placement("none", "").binds);
}

TEST_CASE("units of mpirun's --bind-to and --map-by are refused with what places the ranks so") {
  struct Row {
    const char *bind, *map, *np, *hint;
    bool slots;
  };
  for (const Row& row :
       {Row{"hwthread", "", "2", "--bind-to core: one core, with all its hardware threads", true},
        Row{"core:overload-allowed", "", "2", "--bind-to core", true},
        Row{"numa", "", "2",
            "leave it out: each rank gets its share of the cores of a package; or --bind-to core, or none",
            true},
        Row{"", "slot", "2",
            "--order packed   # -n fills the slots of each host in turn, ranks are numbered so", true},
        Row{"", "slot", "2",
            "-H h1:N,h2:N --order packed   # so many ranks on each host; -n alone splits evenly", false},
        Row{"", "slot", "", "--order packed   # ranks 0 and 1 on the first host, as with mpirun", true},
        Row{"", "node", "4", "2x2 h1,h2 --order ddl   # without --map-by, -n and --hostfile", true},
        Row{"", "node", "4", "2x2 h1,h2 --order ddl   # without --map-by, -n and -H", false},
        Row{"", "node", "3",
            "-H h1:2,h2:1: the ranks of each host; only equal numbers can be numbered round robin", true},
        Row{"", "ppr:1:node:PE=2", "2",
            "1x2 h1,h2 --cores-per-rank 2   # without --map-by, -n and --hostfile", true}}) {
    CAPTURE(row.hint);
    const std::string refused = refusal([&](LaunchFlags& flags) {
      flags.bind_to = row.bind;
      flags.plan.by = row.map[0] == '\0' ? "auto" : row.map;
      flags.framework.np = row.np;
      (row.slots ? flags.hostfile : flags.hosts_option) = row.slots ? "/hosts" : "h1,h2";
    });
    CHECK(refused.substr(refused.find(" | ") + 3) == row.hint);
  }
}

TEST_SUITE_END();
