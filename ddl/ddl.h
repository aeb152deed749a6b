/* SPDX-License-Identifier: MIT */
/* libddl for C, and for every language that can call C. Each function returns 0, or a DDL_ERROR_* whose
 * message ddl_message() tells; all are collective as in ddl.hpp, which says more. A ddl_context is used by
 * one thread at a time. */
#ifndef DDL_DDL_H
#define DDL_DDL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ddl_context ddl_context;
typedef struct ddl_handle ddl_handle;

typedef enum { DDL_FLOAT32, DDL_FLOAT64, DDL_FLOAT16, DDL_BFLOAT16, DDL_INT32 } ddl_type;
typedef enum { DDL_SUM, DDL_AVERAGE, DDL_MAX } ddl_operation;
enum { DDL_ERROR_USAGE = 1, DDL_ERROR_MISMATCH, DDL_ERROR_LOST, DDL_ERROR_UNSUPPORTED, DDL_ERROR_OTHER };

/* `options` as PowerAI DDL's, "-mode b:4x2x1", or NULL. argc and argv may be NULL. */
int ddl_init(int* argc, char*** argv, const char* options, ddl_context** context);
int ddl_finish(ddl_context* context); /* NULL is nothing */
/* What went wrong in this thread's last call that failed: "what (at where); try hint". Never NULL. */
const char* ddl_message(void);

/* -1 of NULL. */
int ddl_rank(const ddl_context* context);
int ddl_size(const ddl_context* context);
int ddl_local_rank(const ddl_context* context);
int ddl_local_size(const ddl_context* context);

/* Zeroed memory that the host's ranks share, where sums need no copies; NULL when it cannot be had.
 * Collective over the host's ranks, as ddl_free(). */
void* ddl_allocate(ddl_context* context, size_t bytes);
void ddl_free(ddl_context* context, void* memory);

int ddl_broadcast(ddl_context* context, void* data, size_t count, ddl_type type, int root);
int ddl_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation);
int ddl_reduce_scatter(ddl_context* context, const void* in, void* out, size_t count_out, ddl_type type,
                       ddl_operation operation);
int ddl_all_gather(ddl_context* context, const void* in, void* out, size_t count_in, ddl_type type);
int ddl_barrier(ddl_context* context);

/* At work while the caller computes; ddl_wait() also frees the handle. */
int ddl_start_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type,
                         ddl_operation operation, ddl_handle** handle);
int ddl_wait(ddl_handle* handle);

/* Tensors in GPU memory (cudaMalloc), added up by NCCL. `stream`: a cudaStream_t, which waits for the call
 * and for which the call waits, or NULL: as device_tensor in ddl.hpp. */
int ddl_gpu_broadcast(ddl_context* context, void* data, size_t count, ddl_type type, int root, void* stream);
int ddl_gpu_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type, ddl_operation operation,
                       void* stream);
int ddl_gpu_reduce_scatter(ddl_context* context, const void* in, void* out, size_t count_out, ddl_type type,
                           ddl_operation operation, void* stream);
int ddl_gpu_all_gather(ddl_context* context, const void* in, void* out, size_t count_in, ddl_type type,
                       void* stream);
int ddl_gpu_start_all_reduce(ddl_context* context, void* data, size_t count, ddl_type type,
                             ddl_operation operation, void* stream, ddl_handle** handle);
/* "cuda:0 (NVIDIA H200)" or "cpu"; until the next call or ddl_finish(). */
const char* ddl_device(ddl_context* context);

#ifdef __cplusplus
}
#endif
#endif
