// SPDX-License-Identifier: MIT
// NCCL's functions that libddl and ddl-train use (2.14.3 and newer), looked up in the library of the machine
// while the program runs: a program that is built with NCCL's header starts on machines without NCCL. For
// ddl-train: it is no part of the public interface.
#pragma once

#include <nccl.h>

#include <functional>
#include <type_traits>

namespace ddl {

// Loaded by this name: the soname of NCCL 2.
constexpr const char* nccl_library = "libnccl.so.2";

struct NcclFunctions {
  // The address of a function of the library; throws where there is none.
  using Find = std::function<void*(const char* name)>;

  explicit NcclFunctions(const Find& find) {
    const auto set = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find(name));
    };
    set(get_version, "ncclGetVersion");
    set(get_unique_id, "ncclGetUniqueId");
    set(init_rank_config, "ncclCommInitRankConfig");
    set(group_start, "ncclGroupStart");
    set(group_end, "ncclGroupEnd");
    set(all_reduce, "ncclAllReduce");
    set(reduce, "ncclReduce");
    set(reduce_scatter, "ncclReduceScatter");
    set(all_gather, "ncclAllGather");
    set(broadcast, "ncclBroadcast");
    set(async_error, "ncclCommGetAsyncError");
    set(finalize, "ncclCommFinalize");
    set(destroy, "ncclCommDestroy");
    set(abort, "ncclCommAbort");
    set(error_text, "ncclGetErrorString");
    set(last_error, "ncclGetLastError");
  }

  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init_rank_config = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclCommFinalize) finalize = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGetErrorString) error_text = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
};

}  // namespace ddl
