// SPDX-License-Identifier: MIT
#include "ddl/gpu/cuda_nccl.hpp"

#include "ddl/nccl_functions.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>

namespace ddl {
namespace {

constexpr int min_nccl = 21403;  // ncclCommInitRankConfig, ncclCommFinalize

void* open_nccl() {
  void* const library = dlopen(nccl_library, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps one for each thread
  throw Error(Fault::unsupported, fmt::format("NCCL cannot be loaded: {}", why == nullptr ? "" : why),
              nccl_library, "apt-get install libnccl2, or LD_LIBRARY_PATH=DIRECTORY of libnccl.so.2");
}

NcclFunctions find_nccl() {
  void* const library = open_nccl();
  NcclFunctions functions([library](const char* name) {
    if (void* const found = dlsym(library, name)) return found;
    throw Error(Fault::unsupported, fmt::format("NCCL has no {}", name), nccl_library,
                "NCCL 2.14.3 or newer");
  });
  int version = 0;
  if (functions.get_version(&version) == ncclSuccess && version >= min_nccl) return functions;
  throw Error(Fault::unsupported,
              fmt::format("NCCL {}.{}.{} is too old: 2.14.3 or newer is needed", version / 10000,
                          version % 10000 / 100, version % 100),
              nccl_library, "apt-get install libnccl2, or LD_LIBRARY_PATH=DIRECTORY of a newer libnccl.so.2");
}

const NcclFunctions& nccl() {
  static const NcclFunctions functions = find_nccl();
  return functions;
}

std::string describe_fault(ncclResult_t code, ncclComm_t group) {
  const char* const more = nccl().last_error(group);
  return fmt::format("NCCL: {}{}", nccl().error_text(code),
                     more == nullptr || *more == '\0' ? "" : fmt::format(" ({})", more));
}

void check_nccl(ncclResult_t code, const char* call, ncclComm_t group) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  throw Error(Fault::unsupported, fmt::format("{} failed: {}", call, describe_fault(code, group)), "NCCL",
              "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET; ddlrun doctor");
}

ncclDataType_t nccl_type(DataType type) {
  constexpr ncclDataType_t types[] = {ncclFloat32, ncclFloat64, ncclFloat16, ncclBfloat16,
                                      ncclInt32,   ncclInt64,   ncclUint8};
  static_assert(std::size(types) == data_types);
  return types[static_cast<std::size_t>(type)];
}

ncclRedOp_t nccl_operation(Operation operation) {
  constexpr ncclRedOp_t codes[] = {ncclSum, ncclAvg, ncclMax, ncclMin, ncclProd};
  static_assert(std::size(codes) == operations);
  return codes[static_cast<std::size_t>(operation)];
}

ncclUniqueId parse_nccl_id(const std::string& text) {
  ncclUniqueId id;
  bool whole = text.size() == 2 * sizeof id.internal;
  for (std::size_t i = 0; whole && i < sizeof id.internal; ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + 2 * i;
    whole = std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    id.internal[i] = static_cast<char>(byte);
  }
  if (whole) return id;
  throw Error(Fault::unsupported,
              fmt::format("NCCL's id has {} digits, not {}", text.size(), 2 * sizeof id.internal), "NCCL",
              "the same libddl on all ranks");
}

// Non-blocking: each call may go on in the background, so that a lost rank leaves no other rank inside
// NCCL.
class NcclComm : public GpuComm {
 public:
  NcclComm(const ncclUniqueId& id, int rank, int size, int device, cudaStream_t stream)
      : rank_(rank), device_(device), stream_(stream) {
    const OnCudaDevice here(device_);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    const ncclResult_t code = nccl().init_rank_config(&group_, size, id, rank, &config);
    if (code != ncclSuccess && code != ncclInProgress) abort();
    check_nccl(code, "ncclCommInitRankConfig", nullptr);
  }
  // After finish() has settled; else what is under way is ended.
  ~NcclComm() override {
    if (group_ == nullptr) return;
    if (!finished_) {
      abort();
      return;
    }
    try {
      const OnCudaDevice here(device_);
      static_cast<void>(nccl().destroy(group_));
    } catch (const Error&) {  // the GPU is gone: nothing is left to free
    }
  }
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;

  void begin() override { check_nccl(nccl().group_start(), "ncclGroupStart", group_); }
  void end() override {
    const OnCudaDevice here(device_);
    check_nccl(nccl().group_end(), "ncclGroupEnd", group_);
  }

  void all_reduce(std::byte* data, std::size_t count, DataType type, Operation operation) override {
    const OnCudaDevice here(device_);
    check_nccl(
        nccl().all_reduce(data, data, count, nccl_type(type), nccl_operation(operation), group_, stream_),
        "ncclAllReduce", group_);
  }
  void reduce(std::byte* data, std::size_t count, DataType type, Operation operation, int root) override {
    const OnCudaDevice here(device_);
    std::byte* const out = root == rank_ ? data : nullptr;  // used on the root only
    check_nccl(
        nccl().reduce(data, out, count, nccl_type(type), nccl_operation(operation), root, group_, stream_),
        "ncclReduce", group_);
  }
  void reduce_scatter(const std::byte* in, std::byte* out, std::size_t count, DataType type,
                      Operation operation) override {
    const OnCudaDevice here(device_);
    check_nccl(
        nccl().reduce_scatter(in, out, count, nccl_type(type), nccl_operation(operation), group_, stream_),
        "ncclReduceScatter", group_);
  }
  void all_gather(const std::byte* in, std::byte* out, std::size_t count, DataType type) override {
    const OnCudaDevice here(device_);
    check_nccl(nccl().all_gather(in, out, count, nccl_type(type), group_, stream_), "ncclAllGather", group_);
  }
  void broadcast(std::byte* data, std::size_t count, DataType type, int root) override {
    const OnCudaDevice here(device_);
    check_nccl(nccl().broadcast(data, data, count, nccl_type(type), root, group_, stream_), "ncclBroadcast",
               group_);
  }

  bool is_idle() override { return state() != ncclInProgress; }
  std::string fault() override {
    const ncclResult_t now = state();
    return now == ncclSuccess || now == ncclInProgress ? "" : describe_fault(now, group_);
  }

  void finish() override {
    const OnCudaDevice here(device_);
    check_nccl(nccl().finalize(group_), "ncclCommFinalize", group_);
    finished_ = true;
  }
  void abort() noexcept override {
    if (group_ == nullptr) return;
    try {
      const OnCudaDevice here(device_);
      static_cast<void>(nccl().abort(group_));
    } catch (const Error&) {  // the GPU is gone: nothing runs there any more
    }
    group_ = nullptr;
  }

 private:
  ncclResult_t state() const {
    if (group_ == nullptr) return ncclInternalError;
    ncclResult_t now = ncclSuccess;
    const ncclResult_t code = nccl().async_error(group_, &now);
    return code == ncclSuccess ? now : code;
  }

  int rank_;
  int device_;
  cudaStream_t stream_;
  ncclComm_t group_ = nullptr;
  bool finished_ = false;
};

}  // namespace

void require_cuda_nccl() { static_cast<void>(nccl()); }

std::string make_nccl_id() {
  ncclUniqueId id;
  check_nccl(nccl().get_unique_id(&id), "ncclGetUniqueId", nullptr);
  std::string text;
  for (const char byte : id.internal) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::unique_ptr<GpuComm> join_nccl(const std::string& id, int rank, int size, int device,
                                   cudaStream_t stream) {
  return std::make_unique<NcclComm>(parse_nccl_id(id), rank, size, device, stream);
}

}  // namespace ddl
