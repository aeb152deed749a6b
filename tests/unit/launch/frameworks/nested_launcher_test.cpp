// SPDX-License-Identifier: MIT
#include "launch/frameworks/nested_launcher.hpp"

#include "base/text/text.hpp"
#include "launch/frameworks/launcher_options.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using frameworks::find_nested_launcher;

TEST_SUITE_BEGIN("launch/frameworks/nested_launcher");

TEST_CASE("the program of a launcher follows its options") {
  struct Row {
    const char *line, *name, *program;
    bool stays_on_host;
  };
  for (const Row& row : {
           Row{"torchrun --nproc-per-node 4 train.py --lr 1", "torchrun", "python3 train.py --lr 1", true},
           Row{"/opt/bin/torchrun --standalone --nproc_per_node=gpu train.py", "torchrun", "python3 train.py",
               true},
           Row{"torchrun --nnodes=2 -m pkg.train --x", "torchrun", "python3 -m pkg.train --x", true},
           Row{"torchrun --no-python --nproc-per-node 2 ./prog", "torchrun", "./prog", true},
           Row{"python3.11 -u -m torch.distributed.run --nproc-per-node 4 t.py", "torch.distributed.run",
               "python3.11 t.py", true},
           Row{"python -m torch.distributed.launch --use_env t.py", "torch.distributed.launch", "python t.py",
               true},
           Row{"accelerate launch --multi_gpu --num_processes 4 t.py", "accelerate", "python3 t.py", true},
           Row{"deepspeed --num_gpus 4 t.py --deepspeed", "deepspeed", "python3 t.py --deepspeed", false},
           Row{"horovodrun -np 4 -H a:2,b:2 --verbose python t.py", "horovodrun", "python t.py", false},
           Row{"mpirun -np 4 --mca btl tcp,self --bind-to core -x A -oversubscribe ./prog -n 3", "mpirun",
               "./prog -n 3", false},
           Row{"mpiexec.hydra -ppn 2 -genv A b -print-all-exitcodes ./prog", "mpiexec.hydra", "./prog",
               false},
           Row{"mpirun -np 16 -genv I_MPI_PIN_DOMAIN=omp -env A=1 ./caffe train", "mpirun", "./caffe train",
               false},
           // Arities from the launchers' own help and from tries with Intel MPI 2021.18.
           Row{"mpirun -outfile-pattern out.%r -errfile-pattern e -s all -prepend-pattern %r ./caffe",
               "mpirun", "./caffe", false},
           Row{"mpirun -gtool vtune:0 -bootstrap-exec ssh -binding pin=yes -tmpdir d -umask 022 ./caffe",
               "mpirun", "./caffe", false},
           Row{"mpirun -demux poll -branch-count 4 -hosts-group a[1-2] -use-app-topology f ./caffe", "mpirun",
               "./caffe", false},
           Row{"mpirun --report-pid pid.txt ./caffe", "mpirun", "./caffe", false},
           Row{"mpiexec -order-nodes ascending ./caffe", "mpiexec", "./caffe", false},
           Row{"mpirun -rr -silent-abort -psm2 -s -tune -n 4 ./caffe", "mpirun", "./caffe", false},
           Row{"srun -N2 -n 4 --mpi=pmix --label ./prog", "srun", "./prog", false},
           Row{"mpirun -n 4", "mpirun", "", false},
       }) {
    CAPTURE(row.line);
    Command words;
    for (const std::string_view word : split(row.line, ' ')) words.emplace_back(word);
    const auto found = find_nested_launcher(words);
    REQUIRE(found.has_value());
    CHECK(found->name == row.name);
    CHECK(render_shell(found->program) == row.program);
    CHECK(found->stays_on_host == row.stays_on_host);
  }
}

TEST_CASE("an option of mpirun that no table has is named, and it has no value") {
  const auto found = find_nested_launcher({"mpirun", "-n", "4", "-no-such", "./caffe", "-rr"});
  REQUIRE(found.has_value());
  CHECK(found->program == Command{"./caffe", "-rr"});
  CHECK(found->unknown == std::vector<std::string>{"-no-such"});
  CHECK(frameworks::sort_launcher_options(*found).unknown == found->unknown);
  // Optional in Intel MPI before 2019.
  CHECK(find_nested_launcher({"mpirun", "-tune", "file.dat", "./p"})->unknown.size() == 1);
  CHECK(find_nested_launcher({"mpirun", "--tune", "file.dat", "./p"})->unknown.empty());
}

TEST_CASE("torchrun without its number of hosts") {
  struct Row {
    const char* line;
    bool forgets_hosts;
    const char* processes;
  };
  for (const Row& row : {
           Row{"torchrun --nproc_per_node=2 t.py", true, "2"},
           Row{"torchrun --nproc-per-node gpu t.py", true, "gpu"},
           Row{"python3 -m torch.distributed.launch t.py", true, ""},
           Row{"torchrun --nnodes=2 --nproc_per_node=2 t.py", false, "2"},
           Row{"torchrun --nnodes 1 t.py", false, ""}, Row{"torchrun --standalone t.py", false, ""},
           Row{"torchrun t.py --nnodes 2", true, ""},
           Row{"accelerate launch t.py", false, ""},  // its own file may have them
       }) {
    CAPTURE(row.line);
    Command words;
    for (const std::string_view word : split(row.line, ' ')) words.emplace_back(word);
    const auto found = find_nested_launcher(words);
    REQUIRE(found.has_value());
    CHECK(found->forgets_hosts == row.forgets_hosts);
    CHECK(found->processes == row.processes);
  }
}

TEST_CASE("other programs are no launchers") {
  for (const Command& words : {Command{"python3", "train.py", "-m", "torch.distributed.run"},
                               Command{"./prog", "mpirun"}, Command{"python", "-m", "pkg.train"},
                               Command{"accelerate", "config"}, Command{"--epochs", "3"}, Command{}}) {
    CAPTURE(words);
    CHECK_FALSE(find_nested_launcher(words).has_value());
  }
}

TEST_CASE("the tuning of horovodrun becomes variables, and other options are named") {
  const auto sorted = [](const Command& words) {
    return frameworks::sort_launcher_options(*frameworks::find_nested_launcher(words));
  };
  const auto tuned =
      sorted({"horovodrun", "-np", "4", "-H", "a:2,b:2", "--fusion-threshold-mb", "64", "--cycle-time-ms=3.5",
              "--autotune", "--disable-cache", "--no-stall-check", "--log-level", "debug", "--ssh-port", "22",
              "--cache-capacity", "$N", "python", "t.py"});
  CHECK(tuned.variables ==
        std::vector<std::string>{"HOROVOD_FUSION_THRESHOLD=67108864", "HOROVOD_CYCLE_TIME=3.5",
                                 "HOROVOD_AUTOTUNE=1", "HOROVOD_CACHE_CAPACITY=0",
                                 "HOROVOD_STALL_CHECK_DISABLE=1", "HOROVOD_LOG_LEVEL=DEBUG"});
  CHECK(tuned.left_out == std::vector<std::string>{"--ssh-port 22", "--cache-capacity $N"});
  const auto mpi = sorted({"mpirun", "-n", "4", "--bind-to", "core", "-x", "A=1", "--mca", "btl", "tcp",
                           "-wdir", "/tmp", "./p", "--mca"});
  CHECK(mpi.variables.empty());
  CHECK(mpi.left_out == std::vector<std::string>{"--mca btl tcp", "-wdir /tmp"});
  CHECK(sorted({"torchrun", "--nproc-per-node", "2", "t.py"}).left_out.empty());
}

TEST_SUITE_END();
