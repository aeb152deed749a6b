// SPDX-License-Identifier: MIT
#include "launch/frameworks/detect.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using frameworks::detect_framework;
using frameworks::DetectRequest;
using frameworks::Framework;

namespace {

struct DetectRow {
  Command program;
  std::string script;
  Framework framework;
  bool doubtful;
  std::string why;  // a part of it; "": nothing is reported
};

void check_rows(const std::vector<DetectRow>& rows) {
  for (const DetectRow& row : rows) {
    CAPTURE(row.script);
    CAPTURE(row.program.back());
    const auto found = detect_framework({row.program, row.script, "train.py", {}});
    CHECK(name_of(found.framework) == name_of(row.framework));
    CHECK(found.doubtful == row.doubtful);
    CHECK(found.why.empty() == row.why.empty());
    CHECK(found.why.find(row.why) != std::string::npos);
  }
}

}  // namespace

TEST_SUITE_BEGIN("launch/frameworks/detect");

TEST_CASE("scripts of the founding documents and their like") {
  const Command python{"python", "train.py"};
  check_rows({
      // 000: Horovod in TensorFlow; 004: HorovodRunner's function; 003: 7 or 8 more lines.
      {python, "import tensorflow as tf\nimport horovod.tensorflow as hvd\n...\nhvd.init()\n",
       Framework::horovod, false, "line 2 imports horovod"},
      {python, "def train():\n  import tensorflow as tf\n  import horovod.keras as hvd\n  hvd.init()\n",
       Framework::horovod, false, "line 3 imports horovod"},
      // 002: the notes' distributed_mnist.py, by the flags it reads.
      {python, "import tensorflow as tf\nps_hosts = FLAGS.ps_hosts.split(',')\n", Framework::tensorflow_ps,
       false, "line 2 imports tensorflow and uses ps_hosts"},
      {python,
       "import tensorflow as tf\nwith tf.device(tf.train.replica_device_setter(cluster=c)):\n  pass\n",
       Framework::tensorflow_ps, false, "replica_device_setter"},
      // 003: the strategies.
      {python, "import tensorflow as tf\ns = tf.distribute.experimental.MultiWorkerMirroredStrategy()\n",
       Framework::tensorflow, false, "MultiWorkerMirroredStrategy"},
      {python, "import tensorflow as tf\nmirrored_strategy = tf.distribute.MirroredStrategy()\n",
       Framework::tensorflow, false, "MirroredStrategy"},
      {python, "import ddl\nimport tensorflow as tf\n", Framework::ddl, false, "line 1 imports ddl"},
      {python, "import torch.distributed as dist\nimport ddl.torch\n", Framework::ddl, false,
       "line 2 imports ddl, line 1 imports torch.distributed"},
      {python, "import torch.distributed as dist\n", Framework::pytorch, false, "imports torch.distributed"},
      {python, "import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n",
       Framework::pytorch, false, "line 2"},
      {python, "import torch\nm = torch.nn.parallel.DistributedDataParallel(m)\n", Framework::pytorch, false,
       "line 2 uses torch's DistributedDataParallel"},
      {python, "import lightning as L\nimport torch\n", Framework::pytorch, false,
       "line 1 imports lightning"},
      // Horovod's own example for PyTorch shares its data by torch's sampler.
      {python, "import horovod.torch as hvd\nimport torch.utils.data.distributed\n", Framework::horovod,
       false, "line 1"},
      {python, "from mpi4py import MPI\n", Framework::none, false, "mpi4py"},
      {python, "import numpy\n", Framework::none, false, ""},
      {python, "# import horovod\n\"\"\"import torch.distributed\"\"\"\n", Framework::none, false, ""},
  });
}

TEST_CASE("modules that the script imports from its own directory") {
  const std::string script = "import tensorflow as tf\nimport strategy\n";
  const frameworks::PythonModule keras{
      "strategy.py", "import tensorflow as tf\ns = tf.distribute.MultiWorkerMirroredStrategy()\n"};
  const frameworks::PythonModule torch{"net.py", "import torch.distributed as dist\n"};
  const frameworks::PythonModule plain{"data.py", "import numpy\n"};
  struct Row {
    std::string script;
    std::vector<frameworks::PythonModule> modules;
    Framework framework;
    bool doubtful;
  };
  for (const Row& row :
       {Row{script, {plain, keras}, Framework::tensorflow, false},
        Row{script, {plain}, Framework::none, true}, Row{script, {keras, torch}, Framework::none, true},
        // What the script itself shows decides.
        Row{"import horovod.torch\n", {keras}, Framework::horovod, false},
        Row{"import mpi4py\n", {keras}, Framework::none, false}}) {
    CAPTURE(row.script);
    const auto found = detect_framework({{"python3", "train.py"}, row.script, "train.py", {}, row.modules});
    CHECK(name_of(found.framework) == name_of(row.framework));
    CHECK(found.doubtful == row.doubtful);
  }
  CHECK(detect_framework({{"python3", "train.py"}, script, "train.py", {}, {keras}}).why ==
        "train.py imports strategy.py, whose line 2 imports tensorflow and uses MultiWorkerMirroredStrategy");
}

TEST_CASE("torch beside another framework is noted") {
  const auto torch = [](const char* script) {
    return frameworks::detect_framework({{"python3", "train.py"}, script, "train.py", {}}).torch;
  };
  CHECK(torch("import ddl\nimport torch.distributed\n"));
  CHECK(torch("import torch\ntorch.distributed.init_process_group('gloo')\n"));
  CHECK_FALSE(torch("import ddl\nimport tensorflow as tf\n"));
}

TEST_CASE("what does not decide is none, and said") {
  const Command python{"python3", "train.py"};
  check_rows({
      {python, "import torch\n", Framework::none, true, "nothing of it that is distributed"},
      {python, "import tensorflow as tf\n", Framework::none, true, "nothing of it that is distributed"},
      {python, "import horovod.torch\nimport torch.distributed\n", Framework::none, true,
       "line 2 imports torch.distributed"},
      {{"torchrun", "--nproc-per-node", "4", "train.py"}, "", Framework::none, true, "starts ranks itself"},
      {{"python", "-m", "torch.distributed.run", "train.py"},
       "",
       Framework::none,
       true,
       "starts ranks itself"},
      {{"horovodrun", "-np", "4", "python", "train.py"}, "", Framework::none, true, "starts ranks itself"},
      {{"python", "-m", "mytrainer"}, "", Framework::none, true, "python -m mytrainer"},
  });
}

TEST_CASE("what asks MPI who it is, and nothing else") {
  struct Row {
    Command program;
    std::string script;
    bool needs_mpi;
    std::string why;
  };
  const std::string mpi4py = "from mpi4py import MPI\n", torch = "import torch.distributed\n";
  for (const Row& row :
       {Row{{"python3", "train.py"}, mpi4py, true, "line 1 imports mpi4py, which asks MPI for everything"},
        Row{{"python3", "train.py"}, mpi4py + torch, false, "line 2 imports torch.distributed"},
        Row{{"python3", "-m", "mpi4py", "train.py"}, "import numpy\n", true, "python -m mpi4py asks MPI"},
        Row{{"python3", "-m", "mpi4py", "train.py"}, mpi4py, true, "line 1 imports mpi4py"},
        Row{{"python3", "-m", "mpi4py", "train.py"}, torch, false, "line 1 imports torch.distributed"},
        Row{{"python3", "-m", "mpi4py.bench", "pingpong"}, "", true, "python -m mpi4py.bench asks MPI"},
        Row{{"python3", "-m", "mpi4pyx"}, "", false, "python -m mpi4pyx is not looked into"},
        Row{{"python3", "train.py"}, "import numpy\n", false, ""}}) {
    CAPTURE(row.program);
    CAPTURE(row.script);
    const auto found = frameworks::detect_framework({row.program, row.script, "train.py", {}});
    CHECK(found.needs_mpi == row.needs_mpi);
    CHECK(found.doubtful == row.why.ends_with("not looked into"));
    if (row.why.empty()) CHECK(found.why.empty());
    CHECK(found.why.find(row.why) != std::string::npos);
  }
}

TEST_CASE("a file's name says nothing, its contents and the options do") {
  const std::string horovod = "import horovod.torch\n";
  check_rows({
      {{"./horovod_train"},
       "\x7f"
       "ELF import horovod\n",
       Framework::none,
       false,
       ""},
      {{"./train"}, "#!/usr/bin/env python3\n" + horovod, Framework::horovod, false, "line 2"},
      {{"./train"}, "#!/bin/sh\n" + horovod, Framework::none, false, ""},
      {{"caffe", "train", "--solver=s"}, "", Framework::none, false, ""},
      {{"caffe", "train", "--solver=s", "-gpu", "0", "-ddl", "-mode b:4x1x1"},
       "",
       Framework::caffe_ddl,
       false,
       "-ddl"},
      {{"/opt/my", "train", "--ddl=-mode b:4"}, "", Framework::caffe_ddl, false, "-ddl"},
      {{"caffe", "time", "-ddl", "x"}, "", Framework::none, false, ""},
      {{"python", "-u", "-W", "ignore", "train.py"}, horovod, Framework::horovod, false, "line 1"},
      {{"/usr/bin/python3.11", "train.py", "-c"}, horovod, Framework::horovod, false, "line 1"},
      {{"python", "-c", "import horovod"}, horovod, Framework::none, false, ""},
  });
  const auto mlsl =
      detect_framework({{"./caffe", "train", "--solver", "s"}, "", "", {"libc.so.6", "libmlsl.so.1"}});
  CHECK(mlsl.framework == Framework::intel_caffe);
  CHECK(mlsl.why == "./caffe is linked with libmlsl.so.1");
}

TEST_CASE("the older flags are seen in the script, and what is found is one line") {
  const auto found =
      detect_framework({{"python", "t.py"}, "import tensorflow\nx = FLAGS.ps_hosts\n", "t.py", {}});
  CHECK(found.flags_style);
  CHECK(render_detection(found) ==
        "framework tensorflow-ps: t.py line 2 imports tensorflow and uses ps_hosts (--framework)");
  const auto config = detect_framework({{"python", "t.py"},
                                        "import tensorflow as tf\ntf.distribute.ParameterServerStrategy(r)\n",
                                        "t.py",
                                        {}});
  CHECK(config.framework == Framework::tensorflow_ps);
  CHECK(!config.flags_style);
  CHECK(config.chief);
  CHECK(!found.chief);
}

TEST_SUITE_END();
