// SPDX-License-Identifier: MIT
// A CUDA runtime that plays GPUs with host memory, for tests: streams are queues with a thread each, events
// are numbers in them. FAKE_GPUS: how many there are (4). FAKE_DRIVER=none: no driver.
#include "tests/support/fake_cuda/fake_cudart.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Passing {
  std::atomic<std::uint64_t> recorded{0};
  std::atomic<std::uint64_t> passed{0};
};

thread_local int current = -1;  // no context
thread_local cudaError_t last = cudaSuccess;

cudaError_t answer(cudaError_t code) {
  if (code != cudaSuccess) last = code;
  return code;
}

int gpus() {
  const char* text = std::getenv("FAKE_GPUS");
  return text == nullptr ? 4 : std::atoi(text);
}
bool no_driver() { return std::getenv("FAKE_DRIVER") != nullptr; }

void make_context() {
  if (current < 0) current = 0;
}

struct World {
  std::mutex mutex;
  std::map<std::byte*, std::pair<std::size_t, int>> memory;
  std::map<int, std::shared_ptr<CUstream_st>> default_streams;
  std::map<cudaStream_t, std::shared_ptr<CUstream_st>> streams;
};
World& world() {
  static World* const all = new World;  // streams run on while the process ends
  return *all;
}

}  // namespace

struct CUevent_st {
  std::shared_ptr<Passing> passing = std::make_shared<Passing>();
};

struct CUstream_st {
  int device = 0;
  bool blocking = true;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  bool busy = false;
  bool ending = false;

  explicit CUstream_st(int gpu, bool blocks) : device(gpu), blocking(blocks) {}
  // The stream lives as long as its thread and every thread that waits for it: another may destroy it
  // meanwhile.
  static std::shared_ptr<CUstream_st> start(int gpu, bool blocks) {
    auto made = std::make_shared<CUstream_st>(gpu, blocks);
    std::thread([made] { made->run(); }).detach();
    return made;
  }
  void add(std::function<void()> work) {
    const std::lock_guard lock(mutex);
    waiting.push_back(std::move(work));
    changed.notify_all();
  }
  void drain() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting.empty() && !busy; });
  }
  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ending || !waiting.empty(); });
      if (waiting.empty()) break;
      const auto work = std::move(waiting.front());
      waiting.pop_front();
      busy = true;
      lock.unlock();
      work();
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
};

namespace {

cudaStream_t real_stream(cudaStream_t stream) {
  if (stream != nullptr && stream != cudaStreamLegacy) return stream;
  make_context();
  const std::lock_guard lock(world().mutex);
  std::shared_ptr<CUstream_st>& ours = world().default_streams[current];
  if (ours == nullptr) ours = CUstream_st::start(current, true);
  return ours.get();
}

void wait_in(cudaStream_t stream, std::shared_ptr<Passing> passing, std::uint64_t number) {
  stream->add([passing = std::move(passing), number] {
    while (passing->passed.load() < number) std::this_thread::sleep_for(std::chrono::microseconds(20));
  });
}

void record_in(cudaStream_t stream, const std::shared_ptr<Passing>& passing) {
  const std::uint64_t number = ++passing->recorded;
  stream->add([passing, number] { passing->passed.store(number); });
}

int get_context(void** context) {
  *context = current < 0 ? nullptr : reinterpret_cast<void*>(static_cast<std::intptr_t>(current) + 1);
  return 0;
}

}  // namespace

void fake_enqueue(cudaStream_t stream, std::function<void()> work) {
  real_stream(stream)->add(std::move(work));
}

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  *version = no_driver() ? 0 : 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) { return "as the fake says"; }
const char* cudaGetErrorName(cudaError_t code) {
  return code == cudaErrorInvalidResourceHandle ? "cudaErrorInvalidResourceHandle" : "cudaErrorFake";
}
cudaError_t cudaGetLastError() { return std::exchange(last, cudaSuccess); }

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** found, unsigned int, unsigned long long,
                                             cudaDriverEntryPointQueryResult* how) {
  if (no_driver() || std::string(name) != "cuCtxGetCurrent") return answer(cudaErrorInsufficientDriver);
  *found = reinterpret_cast<void*>(&get_context);
  *how = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  if (no_driver()) return answer(cudaErrorInsufficientDriver);
  *count = gpus();
  return *count == 0 ? answer(cudaErrorNoDevice) : cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current < 0 ? 0 : current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= gpus()) return answer(cudaErrorInvalidDevice);
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (no_driver()) return answer(cudaErrorInsufficientDriver);
  if (device < 0 || device >= gpus()) return answer(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "fake GPU");
  properties->uuid.bytes[0] = static_cast<char>(device);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  make_context();
  std::vector<std::shared_ptr<CUstream_st>> all;
  {
    const std::lock_guard lock(world().mutex);
    for (const auto& [stream, kept] : world().streams)
      if (stream->device == current) all.push_back(kept);
    if (world().default_streams.count(current) != 0) all.push_back(world().default_streams[current]);
  }
  for (const auto& each : all) each->drain();
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  make_context();
  *data = std::calloc(1, bytes + 1);
  const std::lock_guard lock(world().mutex);
  world().memory[static_cast<std::byte*>(*data)] = {bytes, current};
  return cudaSuccess;
}
cudaError_t cudaFree(void* data) {
  cudaDeviceSynchronize();
  const std::lock_guard lock(world().mutex);
  world().memory.erase(static_cast<std::byte*>(data));
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  if (no_driver()) return answer(cudaErrorInsufficientDriver);
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  auto* const at = static_cast<std::byte*>(const_cast<void*>(data));
  const std::lock_guard lock(world().mutex);
  auto next = world().memory.upper_bound(at);
  if (next == world().memory.begin()) return cudaSuccess;
  const auto& [start, place] = *--next;
  if (at >= start + place.first + 1) return cudaSuccess;
  attributes->type = cudaMemoryTypeDevice;
  attributes->device = place.second;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  fake_enqueue(stream, [to, from, bytes] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  fake_enqueue(stream, [function, data] { function(data); });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  make_context();
  auto made = CUstream_st::start(current, flags != cudaStreamNonBlocking);
  *stream = made.get();
  const std::lock_guard lock(world().mutex);
  world().streams.emplace(*stream, std::move(made));
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::shared_ptr<CUstream_st> kept;
  {
    const std::lock_guard lock(world().mutex);
    kept = world().streams.extract(stream).mapped();
  }
  const std::lock_guard lock(stream->mutex);
  stream->ending = true;
  stream->changed.notify_all();
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  real_stream(stream)->drain();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  wait_in(real_stream(stream), event->passing, event->passing->recorded.load());
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  make_context();
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
// In the default stream: behind all streams of the GPU that block.
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  cudaStream_t const real = real_stream(stream);
  if (real->device != current) return answer(cudaErrorInvalidResourceHandle);
  if (stream == nullptr || stream == cudaStreamLegacy) {
    const std::lock_guard lock(world().mutex);
    for (const auto& [each, kept] : world().streams) {
      if (each->device != current || !each->blocking) continue;
      const auto passing = std::make_shared<Passing>();
      record_in(each, passing);
      wait_in(real, passing, 1);
    }
  }
  record_in(real, event->passing);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Passing& passing = *event->passing;
  return passing.passed.load() >= passing.recorded.load() ? cudaSuccess : answer(cudaErrorNotReady);
}

}  // extern "C"
