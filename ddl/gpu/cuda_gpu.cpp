// SPDX-License-Identifier: MIT
#include "ddl/gpu/cuda_gpu.hpp"

#include "ddl/gpu/cuda_check.hpp"
#include "ddl/gpu/cuda_nccl.hpp"

#include <fmt/format.h>

namespace ddl {
namespace {

// An event is freed by CUDA when it has passed: marks may go before that.
class CudaEvent : public GpuEvent {
 public:
  CudaEvent(int device, cudaStream_t stream) : device_(device) {
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
    const cudaError_t code = cudaEventRecord(event_, stream);
    if (code == cudaSuccess) return;
    static_cast<void>(cudaEventDestroy(event_));
    check_cuda(code, "cudaEventRecord on the stream of a tensor");
  }
  ~CudaEvent() override { static_cast<void>(cudaEventDestroy(event_)); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  bool completed() override {
    const OnCudaDevice here(device_);
    const cudaError_t code = cudaEventQuery(event_);
    if (code == cudaErrorNotReady) {
      static_cast<void>(cudaGetLastError());  // the next check would take it for its own
      return false;
    }
    check_cuda(code, "what a stream was given before a sum, or the sum itself,");
    return true;
  }
  cudaEvent_t event() const { return event_; }

 private:
  int device_;
  cudaEvent_t event_ = nullptr;
};

class CudaGpu : public Gpu {
 public:
  explicit CudaGpu(int device) : device_(device) {
    check_cuda(cudaGetDeviceProperties(&properties_, device_), "cudaGetDeviceProperties");
    const OnCudaDevice here(device_);
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~CudaGpu() override { static_cast<void>(cudaStreamDestroy(stream_)); }
  CudaGpu(const CudaGpu&) = delete;
  CudaGpu& operator=(const CudaGpu&) = delete;

  int index() const override { return device_; }
  std::string name() const override { return properties_.name; }
  std::string uuid() const override {
    std::string text;
    for (const char byte : properties_.uuid.bytes)
      text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
  }
  void make_current() override { check_cuda(cudaSetDevice(device_), "cudaSetDevice"); }
  void synchronize() override {
    const OnCudaDevice here(device_);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    const OnCudaDevice here(device_);
    void* memory = nullptr;
    check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc");
    return {static_cast<std::byte*>(memory), [](std::byte* its) { static_cast<void>(cudaFree(its)); }};
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    const OnCudaDevice here(device_);
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  std::unique_ptr<GpuEvent> mark(void* stream) override {
    return make_event(stream == nullptr ? cudaStreamLegacy : static_cast<cudaStream_t>(stream));
  }
  std::unique_ptr<GpuEvent> record_own_event() override { return make_event(stream_); }
  void wait_for(const GpuEvent& mark) override { make_stream_wait(stream_, mark); }
  void make_stream_wait(void* stream, const GpuEvent& mark) override {
    const OnCudaDevice here(device_);
    check_cuda(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream),
                                   static_cast<const CudaEvent&>(mark).event(), 0),
               "cudaStreamWaitEvent");
  }

  std::string make_id() override {
    const OnCudaDevice here(device_);
    return make_nccl_id();
  }
  std::unique_ptr<GpuComm> join(const std::string& id, int rank, int size) override {
    return join_nccl(id, rank, size, device_, stream_);
  }

 private:
  std::unique_ptr<GpuEvent> make_event(cudaStream_t stream) const {
    const OnCudaDevice here(device_);
    return std::make_unique<CudaEvent>(device_, stream);
  }

  int device_;
  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Gpu> open_cuda_gpu(int device) { return std::make_unique<CudaGpu>(device); }

}  // namespace ddl
