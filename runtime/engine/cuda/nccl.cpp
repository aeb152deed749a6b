// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/nccl.hpp"

#include "base/os/plugin.hpp"
#include "base/text/text.hpp"
#include "ddl/nccl_functions.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace ddlrun::runtime::gpu {
namespace {

const ddl::NcclFunctions& nccl() {
  static const Plugin library = Plugin::open(ddl::nccl_library);
  static const ddl::NcclFunctions functions(
      [](const char* name) { return reinterpret_cast<void*>(library.function<void()>(name)); });
  return functions;
}

void check(ncclResult_t code, const char* call, ncclComm_t group = nullptr) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  const char* more = nccl().last_error(group);
  throw Error(ErrorKind::request,
              {fmt::format("{} failed: {}{}", call, nccl().error_text(code),
                           more == nullptr || *more == '\0' ? "" : " (" + printable(more) + ")"),
               "NCCL", "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET ddl-train ...; ddlrun doctor"});
}

class RealNcclGroup : public NcclGroup {
 public:
  RealNcclGroup(const Device& device, const ncclUniqueId& id, int rank, int size) : device_(device) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;  // blocking
    check(nccl().init_rank_config(&group_, size, id, rank, &config), "ncclCommInitRankConfig");
  }
  ~RealNcclGroup() override {
    if (group_ != nullptr) nccl().destroy(group_);
  }
  RealNcclGroup(const RealNcclGroup&) = delete;
  RealNcclGroup& operator=(const RealNcclGroup&) = delete;

  void all_reduce_sum(float* data, std::size_t count) override {
    check(nccl().all_reduce(data, data, count, ncclFloat32, ncclSum, group_, device_.stream()),
          "ncclAllReduce", group_);
  }

  void broadcast(float* data, std::size_t count) override {
    check(nccl().broadcast(data, data, count, ncclFloat32, 0, group_, device_.stream()), "ncclBroadcast",
          group_);
  }

  // A lost rank leaves the stream waiting forever: the group is aborted instead.
  void wait(double timeout_seconds) override {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds);
    for (;;) {
      const cudaError_t state = cudaStreamQuery(device_.stream());
      if (state != cudaSuccess && state != cudaErrorNotReady) gpu::check(state, "cudaStreamQuery");
      ncclResult_t late = ncclSuccess;
      check(nccl().async_error(group_, &late), "ncclCommGetAsyncError", group_);
      if (late != ncclSuccess && late != ncclInProgress) {
        abort_comm();
        check(late, "a sum over GPUs");
      }
      if (state == cudaSuccess) return;
      if (std::chrono::steady_clock::now() > end) {
        abort_comm();
        throw Error(
            ErrorKind::request,
            {fmt::format("an all-reduce over GPUs timed out after {:.0f} s: some rank did not call it",
                         timeout_seconds),
             name_of_device(device_.index()), "the other ranks' messages, or NCCL_DEBUG=INFO"});
      }
      static_cast<void>(cudaGetLastError());  // the next launch would take it for its own
      std::this_thread::yield();
    }
  }

 private:
  void abort_comm() {
    nccl().abort(group_);
    group_ = nullptr;
  }

  const Device& device_;
  ncclComm_t group_ = nullptr;
};

}  // namespace

std::string describe_nccl() {
  try {
    int version = 0;
    check(nccl().get_version(&version), "ncclGetVersion");
    return fmt::format(", NCCL {}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
  } catch (const Error&) {
    return "";
  }
}

std::string make_nccl_id() {
  ncclUniqueId id;
  check(nccl().get_unique_id(&id), "ncclGetUniqueId");
  std::string text;
  for (const char byte : id.internal) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::unique_ptr<NcclGroup> make_nccl_group(const Device& device, const std::string& text, int rank,
                                           int size) {
  ncclUniqueId id;
  if (text.size() != 2 * sizeof id.internal)
    throw Error(ErrorKind::internal, {"unexpected length of NCCL's id", "rank 0", "report it"});
  for (std::size_t i = 0; i < sizeof id.internal; ++i)
    id.internal[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return std::make_unique<RealNcclGroup>(device, id, rank, size);
}

}  // namespace ddlrun::runtime::gpu
