# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Faults in programs, libraries and left-over settings.

fault other_mpi MPI-01 quick fail each "another Open MPI than the head's is first on the path"
inject_other_mpi() { for host; do sshd_lines "$host" 'SetEnv PATH=/home/ddl/ompi3/bin:/usr/bin:/bin'; done; }
repair_other_mpi() { each sshd_plain "$@"; }
shows_other_mpi() { reach "$1" mpirun --version | grep -q '3\.1\.3'; }

fault settings MPI-07 quick fail odd "a variable of Open MPI is left over in a start-up file"
inject_settings() { for host; do bashrc_line "$host" 'export OMPI_MCA_btl_tcp_if_include=ib7'; done; }
repair_settings() { bashrc_clean "$@"; }
shows_settings() { [ -n "$(reach "$1" 'echo $OMPI_MCA_btl_tcp_if_include')" ]; }

fault program_missing SW-01 quick fail each "the program is not there"
inject_program_missing() { for host; do on "$host" mv /tmp/job/train /tmp/job/away; done; }
repair_program_missing() { for host; do on "$head" scp -qp /tmp/job/train "$host:/tmp/job/train"; done; }
shows_program_missing() { ! reach "$1" test -e /tmp/job/train; }

fault program_differs SW-01 quick fail odd "the program is another build"
inject_program_differs() { for host; do on "$host" bash -c 'echo >> /tmp/job/train'; done; }
repair_program_differs() { for host; do on "$head" scp -qp /tmp/job/train "$host:/tmp/job/train"; done; }
shows_program_differs() { [ "$(reach "$1" sha256sum /tmp/job/train)" != "$(on "$head" sha256sum /tmp/job/train)" ]; }

fault not_executable SW-01 quick fail each "the program may not be executed"
inject_not_executable() { for host; do on "$host" chmod 644 /tmp/job/train; done; }
repair_not_executable() { for host; do on "$host" chmod 755 /tmp/job/train; done; }
shows_not_executable() { ! reach "$1" test -x /tmp/job/train; }

fault no_library SW-02 quick fail each "a library that the program needs is not there"
inject_no_library() { for host; do on "$host" rm /tmp/job/lib/liblab.so; done; }
repair_no_library() { for host; do on "$head" scp -qp /tmp/job/lib/liblab.so "$host:/tmp/job/lib/"; done; }
shows_no_library() { reach "$1" ldd /tmp/job/train | grep -q 'not found'; }
