// SPDX-License-Identifier: MIT
#include "launch/plan/script_launcher.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::find_launcher_in_script;

TEST_SUITE_BEGIN("launch/plan/script_launcher");

TEST_CASE("a script's line that starts ranks itself, behind what may stand before a command") {
  struct Row {
    const char* text;
    std::size_t line;
  };
  for (const Row& row : {Row{"#!/bin/bash\n\ntorchrun --standalone --nproc_per_node=4 train.py\n", 3},
                         {"cd data && OMP_NUM_THREADS=4 exec mpirun -np 4 ./solver", 1},
                         {"if srun -n 4 ./solver; then echo done; fi", 1},
                         {"python3 -m torch.distributed.run train.py", 1},
                         {"/opt/openmpi/bin/mpirun -np 2 ./a\r\n", 1},
                         {"# mpirun -np 4 ./solver\npython3 train.py\n", 0},
                         {"echo mpirun -np 4 ./solver", 0},
                         {"export LAUNCHER=mpirun", 0},
                         {"mpirun --version", 0},
                         {"python3 train.py   # was: (mpirun -np 4 ./a)", 0},
                         {"v=\"$(srun --version)\"; w=$(mpirun -np 1 ./a)", 0},
                         {"case $x in mpirun) python3 a.py;; esac\ntools=(mpirun srun)", 0},
                         {"cat << 'END'\nmpirun -np 4 ./a\nEND\npython3 a.py", 0},
                         {"cat <<-END; true\n\tnone\n\tEND\nmpirun -np 4 ./a", 4},
                         {"echo \"usage: run.sh (mpirun -np 4 ./a)\"; exec ./a -log 'runs (srun ./a)'", 0},
                         {"[ -n \"$DDLRUN_RANK\" ] || exec mpirun -np 4 $0", 0},
                         {"if true; then a; else mpirun -np 4 ./a; fi", 1},
                         {"tools=(\n  mpirun -np 4 ./a\n)\npython3 a.py", 0},
                         {"u=$(cat <<EOF\nmpirun -np 4 ./run.sh\nEOF\n)\necho \"$u\"", 0},
                         {"args=(--threads \"$(nproc)\" --x y); mpirun -np 4 ./a", 1},
                         {"args=($(nproc) mpirun -np 2 ./b)\n./a \"${args[@]}\"", 0},
                         {"python3 a.py # see c:\\\nmpirun -np 4 ./a", 2},
                         {"timeout -k 5 1h mpirun -np 4 ./a", 1},
                         {"", 0}}) {
    CAPTURE(row.text);
    CHECK(find_launcher_in_script(row.text, 4, 2).line == row.line);
  }
  // The program behind continuation lines, without redirections.
  CHECK(find_launcher_in_script("cd x\nmpirun \\\n  -np 4 \\\n  ./solver 'a b' > log 2>&1 &\n", 4, 2).words ==
        Command{"mpirun", "-np", "4", "./solver", "a b"});
  // One torchrun on each host is a use of its own, one mpirun is none.
  CHECK(find_launcher_in_script("torchrun --nproc_per_node=4 train.py", 2, 2).line == 0);
  CHECK(find_launcher_in_script("mpirun -np 4 ./solver", 2, 2).line == 1);
}

TEST_SUITE_END();
