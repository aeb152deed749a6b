/* SPDX-License-Identifier: MIT */
/* libddl over a communicator of the program's own, in C. Needs the mpi.h with which the program is compiled;
 * libddl itself takes the MPI that the process has loaded. */
#ifndef DDL_DDL_MPI_H
#define DDL_DDL_MPI_H

#include "ddl/ddl.h"

#include <mpi.h>

/* ddl_init() for the ranks of `comm`, in its order. Collective over them. The program starts MPI before, with
 * MPI_THREAD_SERIALIZED or more, and ends it after ddl_finalize(). libddl uses copies of `comm`, which may be
 * freed at once. Dims of DDL_OPTIONS have no effect where these are not all ranks of the launcher. USAGE,
 * too: MPI_COMM_NULL, an intercommunicator, a handle of another MPI than the process has loaded, and MPI that
 * has not started. */
static inline int ddl_init_mpi(MPI_Comm comm, const char* options, ddl_context** context) {
  return ddl_init_comm(&comm, sizeof comm, options, context);
}

#endif
