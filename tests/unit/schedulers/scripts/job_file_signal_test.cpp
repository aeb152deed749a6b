// SPDX-License-Identifier: MIT
// Which early signal a job file gets from a script of Slurm, and which of the script's traps it replaces.
#include "schedulers/scripts/job_file_signal.hpp"

#include "schedulers/scripts/request.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::job_scripts;

TEST_SUITE_BEGIN("schedulers/scripts/job_file_signal");

TEST_CASE("the early signal of a script, by what its trap does") {
  struct Row {
    const char* name;
    const char* signal;
    const char* body;
    const char* carried;
    bool requeues;
    int trap;  // its line, where the keys replace it
    int wrong;
  };
  for (const Row& row : {
           Row{"no B:", "USR1@60", "srun ./a\n", "USR1@60", false, 0, 0},
           Row{"requeue", "B:USR1@60", "trap \"scontrol requeue $SLURM_JOB_ID\" USR1\nsrun ./a &\nwait\n",
               "TERM@60", true, 3, 0},
           Row{"requeue by a function", "B:SIGUSR1@60",
               "again() {\n  echo again\n  scontrol requeue $SLURM_JOB_ID\n}\ntrap again SIGUSR1\nsrun ./a "
               "&\nwait\n",
               "TERM@60", true, 7, 0},
           Row{"a function on one line", "B:USR2@60",
               "again() { scontrol requeue $SLURM_JOB_ID; }\ntrap again USR2\nsrun ./a &\nwait\n", "TERM@60",
               true, 4, 0},
           Row{"passed on", "B:USR1@60", "trap 'kill -USR1 $PID' USR1\n./a &\nwait\n", "USR1@60", false, 3,
               0},
           Row{"passed on, then requeue", "B:USR1@60",
               "trap 'kill -USR1 $PID; wait $PID; scontrol requeue $SLURM_JOB_ID' USR1\n./a &\nwait\n",
               "USR1@60", true, 3, 0},
           Row{"saves files too", "B:USR1@60",
               "trap 'kill -USR1 $PID; wait; cp -r ckpt $HOME; scontrol requeue 1' USR1\n./a &\nwait\n",
               "USR1@60", true, 3, 1},
           Row{"saves files, then requeue", "B:USR1@60",
               "trap 'cp -r ckpt $HOME; scontrol requeue 1' USR1\n./a &\nwait\n", "TERM@60", true, 3, 1},
           Row{"at the end too", "B:USR1@60", "trap 'kill $PID' USR1 EXIT\n./a &\nwait\n", "USR1@60", false,
               3, 1},
           Row{"other words", "B:USR1@60", "trap 'touch STOP' USR1\nsrun ./a &\nwait\n", "", false, 0, 1},
           Row{"no trap", "B:USR1@60", "srun ./a\n", "", false, 0, 1},
           Row{"of another signal", "B:USR1@60", "trap 'scontrol requeue 1' TERM\nsrun ./a\n", "", false, 0,
               1},
           Row{"never ran", "USR1@60", "trap 'scontrol requeue $SLURM_JOB_ID' USR1\nsrun ./a\n", "USR1@60",
               false, 3, 0},
       }) {
    CAPTURE(std::string(row.name));
    const JobScript script =
        parse_job_script(std::string("#!/bin/bash\n#SBATCH --signal=") + row.signal + "\n" + row.body, "f");
    const CarriedSignal carried = carry_signal(script, read_request(script));
    CHECK(carried.signal == row.carried);
    CHECK(carried.requeues == row.requeues);
    CHECK(carried.trap_lines == (row.trap == 0 ? std::set<int>{} : std::set<int>{row.trap}));
    int wrong = 0;
    for (const Unsupported& note : carried.notes) wrong += note.wrong ? 1 : 0;
    CHECK(wrong == row.wrong);
    CHECK(carried.notes.empty() == (std::string(row.carried) == row.signal && row.trap == 0));
  }
}

TEST_SUITE_END();
