// SPDX-License-Identifier: MIT
#include "launch/frameworks/nested_launcher.hpp"

#include "base/text/text.hpp"

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

TEST_CASE("other programs are no launchers") {
  for (const Command& words : {Command{"python3", "train.py", "-m", "torch.distributed.run"},
                               Command{"./prog", "mpirun"}, Command{"python", "-m", "pkg.train"},
                               Command{"accelerate", "config"}, Command{"--epochs", "3"}, Command{}}) {
    CAPTURE(words);
    CHECK_FALSE(find_nested_launcher(words).has_value());
  }
}

TEST_SUITE_END();
