// SPDX-License-Identifier: MIT
#include "launch/plan/resolve_framework.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace ddlrun;
using frameworks::Framework;
using launch::JobShape;
using launch::LaunchFlags;
using launch::ResolvedFramework;

namespace {

ResolvedFramework resolve(const LaunchFlags& flags, const JobShape& shape = {}) {
  tests::FakeSystem fake;
  fake.files.files["torch.py"] = "import torch.distributed\n";
  fake.files.files["run.sh"] = "#!/bin/bash\n# python3 ps.py\nexport A=1; exec \"python3\" torch.py --lr 1\n";
  fake.files.files["ps.py"] =
      "import tensorflow as tf\nstrategy = tf.distribute.ParameterServerStrategy(resolver)\n";
  fake.files.files["job/keras.py"] = "import tensorflow as tf\nfrom parts.strategy import make\n";
  fake.files.files["job/parts/strategy.py"] =
      "import tensorflow as tf\ndef make(): return tf.distribute.MultiWorkerMirroredStrategy()\n";
  fake.files.files["job/big.py"] = "import tensorflow as tf\nimport large\n";
  fake.files.files["job/large.py"] =
      "import tensorflow as tf\ntf.MultiWorkerMirroredStrategy\n" + std::string(70'000, '#');
  fake.files.files["./run.sh"] = fake.files.files["run.sh"];
  fake.files.files["hvd.yaml"] = "params:\n  cycle_time_ms: 5\n";
  System system = fake.interfaces();
  return launch::resolve_framework(system, flags, shape);
}

LaunchFlags script(const std::string& name) {
  LaunchFlags flags;
  flags.program = {"python3", name};
  return flags;
}

std::string refusal(const LaunchFlags& flags, const JobShape& shape = {}) {
  try {
    resolve(flags, shape);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.message().what;
  }
  return {};
}

}  // namespace

TEST_SUITE_BEGIN("launch/plan/resolve_framework");

TEST_CASE("the framework is detected from the script, and --framework overrules it") {
  CHECK(resolve(script("torch.py")).spec.framework == Framework::pytorch);
  CHECK(resolve(script("torch.py")).is_packed);
  LaunchFlags flags = script("torch.py");
  flags.framework.framework = "none";
  CHECK(resolve(flags).spec.framework == Framework::none);
  CHECK_FALSE(resolve(flags).is_packed);
  flags.framework.framework = "torch";
  CHECK_FALSE(refusal(flags).empty());
}

TEST_CASE("behind a container, a binding or a tracer, the Python script counts") {
  for (const Command& program :
       {Command{"apptainer", "exec", "--nv", "--bind", "/a:/b", "image.sif", "python3", "torch.py"},
        Command{"/usr/bin/singularity", "exec", "python.sif", "python3", "-u", "torch.py", "--lr", "1"},
        Command{"env", "A=1", "python3", "torch.py"}, Command{"numactl", "-m0", "python3", "torch.py"},
        Command{"nohup", "valgrind", "python3", "torch.py"}}) {
    CAPTURE(program[0]);
    LaunchFlags flags;
    flags.program = program;
    CHECK(resolve(flags).spec.framework == Framework::pytorch);
    CHECK(resolve(flags).is_packed);
  }
  for (const Command& program :
       {Command{"apptainer", "exec", "image.sif", "python3", "elsewhere.py"},
        Command{"apptainer", "exec", "image.sif", "./train", "torch.py"},
        Command{"apptainer", "exec", "image.sif", "python3"}, Command{"./tool", "python3", "torch.py"}}) {
    CAPTURE(program[0]);
    LaunchFlags flags;
    flags.program = program;
    CHECK(resolve(flags).spec.framework == Framework::none);
  }
}

TEST_CASE("a shell script or text that runs the Python script counts as that script") {
  for (const Command& program :
       {Command{"bash", "run.sh"}, Command{"./run.sh"}, Command{"bash", "-c", "cd . && python3 torch.py"},
        Command{"sh", "-ec", "exec python3 -u torch.py --lr $LR"}}) {
    LaunchFlags flags;
    flags.program = program;
    CAPTURE(program.back());
    CHECK(resolve(flags).spec.framework == Framework::pytorch);
  }
  LaunchFlags other;
  other.program = {"bash", "-c", "echo python3 here; python3 $DIR/torch.py"};
  CHECK(resolve(other).spec.framework == Framework::none);
}

TEST_CASE("a module beside the script may name the strategy; a large file is not read") {
  CHECK(resolve(script("job/keras.py")).spec.framework == Framework::tensorflow);
  CHECK(resolve(script("job/big.py")).spec.framework == Framework::none);
}

TEST_CASE("packed order is remarked on, unless --order or a rankfile decides") {
  CHECK(resolve(script("torch.py")).spec.remarks.size() == 2);
  LaunchFlags flags = script("torch.py");
  flags.plan.order = "ddl";
  CHECK(resolve(flags).spec.remarks.size() == 1);
  JobShape shape;
  shape.rankfile = "/rf";
  CHECK(resolve(script("torch.py"), shape).spec.remarks.size() == 1);
}

TEST_CASE("--ps and --workers select TensorFlow and exclude other numbers of ranks") {
  LaunchFlags flags;
  flags.program = {"python3", "any.py"};
  flags.framework.ps = "2";
  CHECK(refusal(flags) == "tensorflow-ps needs --ps and --workers");
  flags.framework.workers = "3";
  const auto spec = resolve(flags).spec;
  CHECK(spec.framework == Framework::tensorflow_ps);
  CHECK(spec.ps_tasks == 2);
  CHECK(spec.workers == 3);
  JobShape shape;
  shape.dims = topology::Dims{4, 2, 1, 1};
  CHECK(refusal(flags, shape) == "--ps and --workers conflict with 4x2x1");
  shape.dims = std::nullopt;
  shape.racks = 2;
  CHECK(refusal(flags, shape) == "--ps and --workers conflict with --racks");
  flags.plan.order = "ddl";
  CHECK(refusal(flags) == "--order has no effect on --ps and --workers");
  flags.plan.order = "";
  flags.plan.by = "packages";
  CHECK(refusal(flags) == "--map-by has no effect on --ps and --workers");
  flags.plan.by = "auto";
  flags.framework.framework = "horovod";
  CHECK(refusal(flags) == "--ps and --workers are for TensorFlow, the framework is horovod");
  flags.framework.framework = "auto";
  flags.framework.workers = "x";
  CHECK(refusal(flags) == "'x' is not a number from 0 to 4096");
}

TEST_CASE("a script with ParameterServerStrategy gets its chief") {
  LaunchFlags flags = script("ps.py");
  CHECK(resolve(flags).spec.framework == Framework::none);  // without --ps and --workers it is one program
  flags.framework.ps = "1";
  flags.framework.workers = "2";
  CHECK(resolve(flags).spec.chief);
  flags = script("torch.py");
  flags.framework.chief = true;
  CHECK(refusal(flags) == "--chief is for parameter servers");
}

TEST_CASE("the counts of -H are exact, the slots of a hostfile are the most") {
  LaunchFlags flags = script("ps.py");  // has a chief
  flags.framework.ps = "2";
  flags.framework.workers = "3";
  JobShape shape;
  shape.host_ranks = {4, 2};
  flags.hosts_option = "h1:4,h2:2";
  CHECK(refusal(flags, shape).empty());
  shape.host_ranks = {3, 2};
  CHECK(refusal(flags, shape) == "2 ps, 3 workers and a chief are 6 tasks, the counts of -H are 5");
  shape.host_ranks = {4, 3};
  CHECK(refusal(flags, shape) == "2 ps, 3 workers and a chief are 6 tasks, the counts of -H are 7");
  flags.hosts_option = "";
  flags.hostfile = "hosts";
  CHECK(refusal(flags, shape).empty());
  shape.host_ranks = {3, 2};
  CHECK(refusal(flags, shape) == "2 ps, 3 workers and a chief are 6 tasks, the slots of the hostfile are 5");
}

TEST_CASE("tasks without a chief and their counts") {
  LaunchFlags flags;
  flags.program = {"python3", "any.py"};
  flags.framework.ps = "2";
  flags.framework.workers = "3";
  flags.hosts_option = "h1:4,h2:2";
  JobShape shape;
  shape.host_ranks = {4, 2};
  CHECK(refusal(flags, shape) == "2 ps and 3 workers are 5 tasks, the counts of -H are 6");
}

TEST_CASE("flags of one framework are refused with another") {
  LaunchFlags flags = script("torch.py");
  flags.framework.ddl_mode = "b";
  CHECK(refusal(flags) == "--ddl-mode is for DDL, the framework is pytorch");
  flags.program = {"./prog"};
  CHECK(resolve(flags).spec.framework == Framework::ddl);
  flags = script("torch.py");
  flags.framework.horovod_config = "hvd.yaml";
  CHECK(refusal(flags) == "--horovod-config is for Horovod, the framework is pytorch");
  flags.framework.framework = "horovod";
  CHECK(resolve(flags).spec.horovod.at("params.cycle_time_ms").text == "5");
  CHECK(resolve(flags).spec.needs_mpi);
}

TEST_CASE("ports: 1 to 65535") {
  for (const char* port : {"0", "65536", "x"}) {
    CAPTURE(port);
    LaunchFlags flags = script("torch.py");
    flags.framework.master_port = port;
    CHECK_FALSE(refusal(flags).empty());
  }
  LaunchFlags flags = script("torch.py");
  CHECK_FALSE(resolve(flags).spec.master_port);
  flags.framework.master_port = "29501";
  CHECK(resolve(flags).spec.master_port == 29501);
}

TEST_SUITE_END();
