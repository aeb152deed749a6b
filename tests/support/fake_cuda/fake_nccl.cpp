// SPDX-License-Identifier: MIT
// A libnccl.so.2 that plays NCCL with a mapped file, for tests: between processes and threads, strict where
// the real one hangs or crashes. Calls go on in the background: a stream gets them when NCCL has been asked
// for the third time. FAKE_FATE="WHAT RANK CALL": in its CALL-th call, RANK of a communicator is killed
// ("kill"), stopped ("stop"), never ends it ("hang") or sees an error ("error"). FAKE_NCCL_VERSION: another.
#include "tests/support/fake_cuda/fake_cudart.hpp"
#include "tests/support/kernel_reference.hpp"

#include <fcntl.h>
#include <nccl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t piece_bytes = 32 << 10;
constexpr int most_ranks = 16;

struct Shared {
  struct Rank {
    std::atomic<std::uint64_t> joined, posted, taken, ended;
  } ranks[most_ranks];
  std::byte pieces[most_ranks][piece_bytes];
};

struct Call {
  cudaStream_t stream;
  std::function<void()> work;
};

}  // namespace

struct ncclComm {
  Shared* shared = nullptr;
  std::string path;
  int rank = 0;
  int size = 0;
  std::atomic<bool> aborted{false};
  std::atomic<int> fault{ncclSuccess};
  std::uint64_t round = 0;
  int calls = 0;
  int polls = 0;  // until what was called is begun
  bool ending = false;
  std::vector<Call> begun;  // not handed to a stream yet

  template <typename Field>
  bool all(Field field, std::uint64_t least) const {
    for (int r = 0; r < size; ++r)
      if ((shared->ranks[r].*field).load() < least) return false;
    return true;
  }
  template <typename Field>
  bool wait(Field field) const {
    while (!all(field, round)) {
      if (aborted) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return !aborted;
  }
  // Everybody's bytes, seen by `use`.
  template <typename Use>
  bool exchange(const std::byte* mine, std::size_t bytes, const Use& use) {
    ++round;
    std::memcpy(shared->pieces[rank], mine, bytes);
    shared->ranks[rank].posted.store(round);
    if (!wait(&Shared::Rank::posted)) return false;
    use();
    shared->ranks[rank].taken.store(round);
    return wait(&Shared::Rank::taken);
  }
};

namespace {

thread_local int depth = 0;
thread_local std::vector<std::pair<ncclComm_t, Call>> together;

std::size_t size_of_type(ncclDataType_t type) {
  if (type == ncclUint8) return 1;
  if (type == ncclFloat64 || type == ncclInt64) return 8;
  return type == ncclFloat16 || type == ncclBfloat16 ? 2 : 4;
}

double read_number(const std::byte* at, ncclDataType_t type) {
  if (type == ncclFloat64) return *reinterpret_cast<const double*>(at);
  if (type == ncclInt32) return *reinterpret_cast<const std::int32_t*>(at);
  if (type == ncclInt64) return static_cast<double>(*reinterpret_cast<const std::int64_t*>(at));
  if (type == ncclUint8) return static_cast<std::uint8_t>(*at);
  if (type == ncclFloat32) return *reinterpret_cast<const float*>(at);
  const std::uint16_t bits = *reinterpret_cast<const std::uint16_t*>(at);
  return type == ncclFloat16 ? kernel_reference::float_of_half(bits)
                             : std::bit_cast<float>(std::uint32_t{bits} << 16);
}

void write_number(std::byte* at, ncclDataType_t type, double value) {
  if (type == ncclFloat64) *reinterpret_cast<double*>(at) = value;
  if (type == ncclInt32) *reinterpret_cast<std::int32_t*>(at) = static_cast<std::int32_t>(value);
  if (type == ncclInt64) *reinterpret_cast<std::int64_t*>(at) = static_cast<std::int64_t>(value);
  if (type == ncclUint8) *at = static_cast<std::byte>(static_cast<std::int64_t>(value));
  if (type == ncclFloat32) *reinterpret_cast<float*>(at) = static_cast<float>(value);
  if (type == ncclFloat16)
    *reinterpret_cast<std::uint16_t*>(at) = kernel_reference::half_by_arithmetic(static_cast<float>(value));
  if (type == ncclBfloat16)  // cut, not rounded: the tests' sums fit
    *reinterpret_cast<std::uint16_t*>(at) =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

double add_numbers(const ncclComm& group, std::size_t at, ncclDataType_t type, ncclRedOp_t how) {
  double result = read_number(group.shared->pieces[0] + at, type);
  for (int r = 1; r < group.size; ++r) {
    const double more = read_number(group.shared->pieces[r] + at, type);
    result = how == ncclMax    ? std::max(result, more)
             : how == ncclMin  ? std::min(result, more)
             : how == ncclProd ? result * more
                               : result + more;
  }
  return how == ncclAvg ? result / group.size : result;
}

// `count` elements at `in` added up; stored only where `out` is not null.
bool add_range(ncclComm& group, const std::byte* in, std::byte* out, std::size_t count, ncclDataType_t type,
               ncclRedOp_t how) {
  const std::size_t unit = size_of_type(type);
  for (std::size_t at = 0; at < count * unit; at += piece_bytes) {
    const std::size_t part = std::min(piece_bytes, count * unit - at);
    const bool done = group.exchange(in + at, part, [&] {
      for (std::size_t i = 0; out != nullptr && i < part; i += unit)
        write_number(out + at + i, type, add_numbers(group, i, type, how));
    });
    if (!done) return false;
  }
  return true;
}

bool copy_range(ncclComm& group, const std::byte* in, std::byte* out, std::size_t bytes, std::size_t stride,
                int only) {
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const std::size_t part = std::min(piece_bytes, bytes - at);
    const bool done = group.exchange(in + at, part, [&] {
      for (int r = 0; r < group.size; ++r) {
        if (only < 0 || r == only)
          std::memcpy(out + static_cast<std::size_t>(only < 0 ? r : 0) * stride + at, group.shared->pieces[r],
                      part);
      }
    });
    if (!done) return false;
  }
  return true;
}

void meet_fate(ncclComm& group) {
  const char* const text = std::getenv("FAKE_FATE");
  if (text == nullptr) return;
  std::istringstream words(text);
  std::string what;
  int rank = 0;
  int call = 0;
  words >> what >> rank >> call;
  if (rank != group.rank || call != group.calls) return;
  if (what == "kill") raise(SIGKILL);
  if (what == "stop") raise(SIGSTOP);
  if (what == "error") group.fault = ncclRemoteError;
  if (what == "hang") {
    for (Call& each : group.begun)
      each.work = [&group] {
        while (!group.aborted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      };
  }
}

ncclResult_t hand_over(ncclComm_t group, std::vector<Call> calls) {
  if (group->polls > 0) {
    std::fprintf(stderr, "fake NCCL: called while it is in progress\n");
    return ncclInvalidUsage;
  }
  for (Call& each : calls) group->begun.push_back(std::move(each));
  group->polls = 3;
  ++group->calls;
  meet_fate(*group);
  return ncclInProgress;
}

ncclResult_t add_call(ncclComm_t group, cudaStream_t stream, std::function<void()> work) {
  if (depth > 0) {
    together.emplace_back(group, Call{stream, std::move(work)});
    return ncclSuccess;
  }
  return hand_over(group, {{stream, std::move(work)}});
}

void end_file(const ncclComm& group) {
  if (group.rank == 0) unlink(group.path.c_str());
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  const char* const text = std::getenv("FAKE_NCCL_VERSION");
  *version = text == nullptr ? 22809 : std::atoi(text);
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t code) {
  return code == ncclRemoteError ? "remote process exited or there was a network error" : "as the fake says";
}
const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const char* const directory = std::getenv("FAKE_NCCL");
  const std::string path = std::string(directory == nullptr ? "/dev/shm" : directory) + "/fake_nccl.XXXXXX";
  std::memset(id->internal, 0, sizeof id->internal);
  std::strncpy(id->internal, path.c_str(), sizeof id->internal - 1);
  const int file = mkstemp(id->internal);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return ncclSystemError;
  close(file);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (config->blocking != 0 || size > most_ranks) return ncclInvalidUsage;
  auto* const group = new ncclComm;
  group->path = id.internal;
  group->rank = rank;
  group->size = size;
  const int file = open(id.internal, O_RDWR | O_CLOEXEC);
  void* const mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return ncclSystemError;
  group->shared = static_cast<Shared*>(mapped);
  group->shared->ranks[rank].joined.store(1);
  *made = group;
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t group, ncclResult_t* state) {
  *state = ncclInProgress;
  if (group->fault != ncclSuccess) {
    *state = static_cast<ncclResult_t>(group->fault.load());
  } else if (!group->all(&Shared::Rank::joined, 1)) {
  } else if (group->ending) {
    if (group->all(&Shared::Rank::ended, 1)) *state = ncclSuccess;
  } else if (group->polls > 0 && --group->polls > 0) {
  } else {
    for (Call& each : group->begun) fake_enqueue(each.stream, std::move(each.work));
    group->begun.clear();
    *state = ncclSuccess;
  }
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t group) {
  group->ending = true;
  group->shared->ranks[group->rank].ended.store(1);
  return ncclInProgress;
}
ncclResult_t ncclCommDestroy(ncclComm_t group) {
  if (!group->ending || !group->all(&Shared::Rank::ended, 1))
    std::fprintf(stderr, "fake NCCL: destroyed before all have come to the end\n");
  end_file(*group);
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t group) {
  group->aborted = true;
  end_file(*group);
  return ncclSuccess;  // its calls may still look at it: it is left there
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (--depth > 0) return ncclSuccess;
  std::vector<Call> calls;
  ncclComm_t group = nullptr;
  for (auto& [its, call] : together) {
    if (group != nullptr && group != its) std::fprintf(stderr, "fake NCCL: two communicators in one group\n");
    group = its;
    calls.push_back(std::move(call));
  }
  together.clear();
  return group == nullptr ? ncclSuccess : hand_over(group, std::move(calls));
}

ncclResult_t ncclAllReduce(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t how,
                           ncclComm_t group, cudaStream_t stream) {
  return add_call(group, stream, [=] {
    add_range(*group, static_cast<const std::byte*>(in), static_cast<std::byte*>(out), count, type, how);
  });
}
ncclResult_t ncclReduce(const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t how,
                        int root, ncclComm_t group, cudaStream_t stream) {
  auto* const sums = root == group->rank ? static_cast<std::byte*>(out) : nullptr;
  return add_call(group, stream,
                  [=] { add_range(*group, static_cast<const std::byte*>(in), sums, count, type, how); });
}
ncclResult_t ncclReduceScatter(const void* in, void* out, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t how, ncclComm_t group, cudaStream_t stream) {
  return add_call(group, stream, [=] {
    const auto* const all = static_cast<const std::byte*>(in);
    for (int r = 0; r < group->size; ++r) {
      const std::byte* const part = all + static_cast<std::size_t>(r) * count * size_of_type(type);
      if (!add_range(*group, part, r == group->rank ? static_cast<std::byte*>(out) : nullptr, count, type,
                     how))
        return;
    }
  });
}
ncclResult_t ncclAllGather(const void* in, void* out, std::size_t count, ncclDataType_t type,
                           ncclComm_t group, cudaStream_t stream) {
  return add_call(group, stream, [=] {
    const std::size_t bytes = count * size_of_type(type);
    copy_range(*group, static_cast<const std::byte*>(in), static_cast<std::byte*>(out), bytes, bytes, -1);
  });
}
ncclResult_t ncclBroadcast(const void* in, void* out, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t group, cudaStream_t stream) {
  return add_call(group, stream, [=] {
    copy_range(*group, static_cast<const std::byte*>(in), static_cast<std::byte*>(out),
               count * size_of_type(type), 0, root);
  });
}

}  // extern "C"
