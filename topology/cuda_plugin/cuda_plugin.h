/* SPDX-License-Identifier: MIT */
/* What ddlrun_cuda.so offers: plain C, so that ddlrun itself needs no CUDA header and no CUDA library.
   Every function returns 0, or another number after it wrote a reason of one line into `error`. */
#ifndef DDLRUN_CUDA_PLUGIN_H
#define DDLRUN_CUDA_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DDLRUN_CUDA_ABI 1
#define DDLRUN_CUDA_ERROR_BYTES 256

struct ddlrun_cuda_versions {
  int runtime; /* 13000 = 13.0 */
  int driver;
  int nccl; /* 22803 = 2.28.3; 0: not built in, or no library found */
};

struct ddlrun_cuda_device {
  char pci_bus_id[16]; /* "0000:01:00.0" */
  char name[256];
  char uuid[48]; /* "GPU-..." */
  uint64_t memory_bytes;
};

struct ddlrun_cuda_link {
  int peer_access;      /* 1: one GPU reads the other's memory itself */
  int native_atomics;   /* 1: with atomics, which NVLink has and PCIe has not */
  int performance_rank; /* 0 is the fastest kind of link in this machine */
};

int ddlrun_cuda_abi(void);
int ddlrun_cuda_get_versions(struct ddlrun_cuda_versions* versions, char* error);
int ddlrun_cuda_count(int* count, char* error);
int ddlrun_cuda_get_device(int index, struct ddlrun_cuda_device* device, char* error);
int ddlrun_cuda_get_link(int from, int to, struct ddlrun_cuda_link* link, char* error);

#ifdef __cplusplus
}
#endif

#endif
