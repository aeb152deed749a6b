/* SPDX-License-Identifier: MIT */
/* libddl for C, and for every language that can call C: collective operations over all ranks of a job.
 *
 * Calls: functions that take a ddl_context are collective unless they are marked local: all ranks make the
 * same calls in the same order with the same counts and types. Counts are elements of `type`. Status: a
 * function returns 0 or a DDL_ERROR_*; ddl_last_error() then has the message. After any status but 0 and
 * DDL_ERROR_USAGE each further call on the context fails with the first error.
 *   DDL_ERROR_USAGE        an argument is invalid; nothing was sent, the call does not count, and the context
 *                          stays usable: the other ranks wait until this rank makes the call
 *   DDL_ERROR_MISMATCH     another rank made a different call; the message names both
 *   DDL_ERROR_LOST         a rank ended, or did not make the call within the timeout (30 s, option -timeout)
 *   DDL_ERROR_UNSUPPORTED  this build or machine cannot do it: no GPU, no shared memory left
 *   DDL_ERROR_OTHER        any other failure, such as no memory
 * Blocking: functions return after the operation is complete on this rank, but for ddl_start_* and
 * ddl_gpu_start_*. Threads: a ddl_context and its groups are used by one thread at a time; ddl_wait() and
 * ddl_done() may be called by any thread. ddl_last_error() belongs to the calling thread. */
#ifndef DDL_DDL_H
#define DDL_DDL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ddl_context ddl_context;
typedef struct ddl_handle ddl_handle;

typedef enum {
  DDL_FLOAT32,
  DDL_FLOAT64,
  DDL_FLOAT16,
  DDL_BFLOAT16,
  DDL_INT32,
  DDL_INT64,
  DDL_UINT8
} ddl_type;
/* Integers have no average; their sums and products wrap around. */
typedef enum { DDL_SUM, DDL_AVERAGE, DDL_MAX, DDL_MIN, DDL_PRODUCT } ddl_operation;
enum { DDL_ERROR_USAGE = 1, DDL_ERROR_MISMATCH, DDL_ERROR_LOST, DDL_ERROR_UNSUPPORTED, DDL_ERROR_OTHER };

/* Starts libddl and blocks until all ranks have started. argc and argv are main's, or NULL. `options` is
 * PowerAI DDL's option string, "-mode b:4x2x1", or NULL; DDL_OPTIONS overrides it. Ranks come from mpirun,
 * srun or ddlrun, or from DDL_RANK, DDL_SIZE, DDL_MASTER=host:port and DDL_TOKEN_FILE; else the process is
 * one rank. *context is NULL after an error. USAGE: invalid options, or dims that do not fit the hosts;
 * MISMATCH: options differ between ranks. */
int ddl_init(int* argc, char*** argv, const char* options, ddl_context** context);
/* ddl_init() for the ranks of a communicator of the program, by the address and the size of its MPI_Comm:
 * ddl_init_mpi() of ddl/ddl_mpi.h calls it. */
int ddl_init_comm(const void* comm, size_t size, const char* options, ddl_context** context);
/* A context of the ranks of `context` that give the same `color`, 0 or more, ordered by `key`, then by rank.
 * *group is NULL for a rank whose color is DDL_NO_GROUP, and after an error. Collective over all ranks of
 * `context`. Both are used like any context, by one thread at a time together, and freed by ddl_finalize() in
 * any order, the same on all ranks; an error of one is the error of both. USAGE: another color below 0. */
enum { DDL_NO_GROUP = -1 };
int ddl_split(ddl_context* context, int color, int key, ddl_context** group);
/* Completes started calls, frees the context and all memory of ddl_allocate(). The last context that comes
 * from a ddl_init() finalizes MPI, if that initialized it. NULL does nothing and returns 0. After an error
 * (any status but 0 and USAGE) it waits for no other rank, returns the first error, and MPI is not finalized:
 * end the program with a status other than 0, upon which the launcher ends the ranks that are left. */
int ddl_finalize(ddl_context* context);
/* Ends the context of a rank that cannot go on: calls of the other ranks return DDL_ERROR_LOST with a message
 * that names this rank and has the first line of `reason`, "rank 1 (node1) gave up: cannot open part-1.bin";
 * NULL: "ddl_abandon()". Frees what ddl_finalize() frees, without waiting for other ranks, and does not
 * finalize MPI. A context of NULL does nothing. */
void ddl_abandon(ddl_context* context, const char* reason);
/* Local. The message of this thread's last call that failed: "what (at where); try hint". Never NULL; valid
 * until the thread's next call that fails. */
const char* ddl_last_error(void);
/* Local, before ddl_init() too. The version of the library that is loaded, "0.1.0". */
const char* ddl_version(void);

/* Local, never fail: this rank (0 to size - 1), the number of ranks, and the same among the ranks of this
 * host. -1 if `context` is NULL. */
int ddl_rank(const ddl_context* context);
int ddl_size(const ddl_context* context);
int ddl_local_rank(const ddl_context* context);
int ddl_local_size(const ddl_context* context);

/* `bytes` zeroed bytes for this rank, in memory that the ranks of the host share: sums of it need no copies.
 * Collective over the ranks of the host, all with the same `bytes`. NULL after an error: UNSUPPORTED if
 * shared memory is exhausted, MISMATCH if ranks give other `bytes`. */
void* ddl_allocate(ddl_context* context, size_t bytes);
/* Frees memory of ddl_allocate(). Collective over the ranks of the host, in the same order. Other pointers
 * and NULL are ignored. */
void ddl_free(ddl_context* context, void* memory);

/* data: count elements. Copies the data of rank `root` (0 to size - 1) to all ranks. USAGE: invalid root. */
int ddl_broadcast(ddl_context* context, void* data, size_t count, ddl_type type, int root);
/* data: count elements, in place. Becomes the sum, average, maximum, minimum or product over all ranks, the
 * same bits on all of them. USAGE: DDL_AVERAGE of integers. */
int ddl_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation);
/* in: count_out * size elements; out: count_out. `out` becomes elements [rank * count_out, (rank + 1) *
 * count_out) of the sum of all `in`. USAGE as ddl_all_reduce(). */
int ddl_reduce_scatter(ddl_context* context, const void* in, void* out, size_t count_out, ddl_type type,
                       ddl_operation operation);
/* in: count_in elements; out: count_in * size. `out` becomes the `in` of all ranks in rank order. In place
 * where `in` is out + rank * count_in elements. */
int ddl_all_gather(ddl_context* context, const void* in, void* out, size_t count_in, ddl_type type);
/* data: count elements. The root's `data` (rank 0 to size - 1) becomes the sum, average, maximum, minimum or
 * product over all ranks; the others' `data` stays as it is. USAGE as ddl_all_reduce(), or invalid root. */
int ddl_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation,
               int root);
/* in, of the root only: count_out * size elements; out: count_out. `out` becomes elements [rank * count_out,
 * (rank + 1) * count_out) of the root's `in`. Other ranks may pass NULL as `in`. */
int ddl_scatter(ddl_context* context, const void* in, void* out, size_t count_out, ddl_type type, int root);
/* in: count_in elements; out, of the root only: count_in * size. The root's `out` becomes the `in` of all
 * ranks in rank order. Other ranks may pass NULL as `out`. */
int ddl_gather(ddl_context* context, const void* in, void* out, size_t count_in, ddl_type type, int root);
/* Returns after all ranks have called it. */
int ddl_barrier(ddl_context* context);

/* ddl_all_reduce() on a communication thread: returns at once, and `data` must stay valid until ddl_wait().
 * Started calls run in their order; blocking calls wait for them. USAGE: a NULL argument, an unknown type or
 * operation; ddl_wait() returns the USAGE of all else, such as DDL_AVERAGE of integers. *handle is set only
 * when 0 is returned. */
int ddl_start_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type,
                         ddl_operation operation, ddl_handle** handle);
/* ddl_reduce() and ddl_broadcast() in the same way. */
int ddl_start_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation,
                     int root, ddl_handle** handle);
int ddl_start_broadcast(ddl_context* context, void* data, size_t count, ddl_type type, int root,
                        ddl_handle** handle);
/* Blocks until the started call is complete, frees the handle and returns the status of the call. NULL
 * returns 0. Any thread. */
int ddl_wait(ddl_handle* handle);
/* Local. 1 when ddl_wait() would not block, else 0. NULL: 1. Any thread, before ddl_wait(). */
int ddl_done(const ddl_handle* handle);

/* The functions above for data in GPU memory (cudaMalloc), which NCCL sums, with the same shapes and
 * statuses. All pointers of a call lie on this rank's GPU, else USAGE; no GPU, NCCL or plug-in: UNSUPPORTED.
 * `stream` is a cudaStream_t or NULL. With a stream the operation starts after the work that the stream
 * holds, and later work of the stream starts after the operation; the function returns once that order is set
 * up, and the next call reports an error of the operation. With NULL the function waits for the default
 * stream and returns after the GPU has finished. */
int ddl_gpu_broadcast(ddl_context* context, void* data, size_t count, ddl_type type, int root, void* stream);
int ddl_gpu_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation,
                       void* stream);
int ddl_gpu_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation,
                   int root, void* stream);
int ddl_gpu_reduce_scatter(ddl_context* context, const void* in, void* out, size_t count_out, ddl_type type,
                           ddl_operation operation, void* stream);
int ddl_gpu_all_gather(ddl_context* context, const void* in, void* out, size_t count_in, ddl_type type,
                       void* stream);
int ddl_gpu_start_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type,
                             ddl_operation operation, void* stream, ddl_handle** handle);
/* Local; waits for started calls. "cuda:0 (NVIDIA H200)", or "cpu" before the first call on a GPU; "" if
 * `context` is NULL. Valid until the next ddl_device() or ddl_finalize(). */
const char* ddl_device(ddl_context* context);

#ifdef __cplusplus
}
#endif
#endif
