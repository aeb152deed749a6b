// SPDX-License-Identifier: MIT
// A stand-in for libcuda.so.1 with two GPUs whose memory is the host's: enough to copy, and to run the one
// kernel that doctor brings. FAKE_CUDA in the environment states what is wrong with them.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Context {
  int device;
};
Context* current = nullptr;
bool initialised = false;
std::uint64_t allocated[2];

bool is(const char* behaviour) {
  const char* set = std::getenv("FAKE_CUDA");
  return set != nullptr && std::strcmp(set, behaviour) == 0;
}

constexpr int invalid = 1, out_of_memory = 2, not_initialised = 3, no_device = 100, invalid_context = 201,
              bad_ptx = 218;

}  // namespace

extern "C" {

int cuInit(unsigned flags) {
  if (is("no-device")) return no_device;
  initialised = flags == 0;
  return initialised ? 0 : invalid;
}
int cuGetErrorName(int code, const char** name) {
  *name = code == no_device       ? "CUDA_ERROR_NO_DEVICE"
          : code == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == bad_ptx       ? "CUDA_ERROR_INVALID_PTX"
                                  : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return initialised ? 0 : not_initialised;
}
int cuDeviceGetPCIBusId(char* text, int size, int device) {
  if (device < 0 || device > 1) return invalid;
  std::snprintf(text, static_cast<std::size_t>(size), device == 0 ? "0002:01:00.0" : "0003:01:00.0");
  return 0;
}
int cuCtxCreate_v2(void** context, unsigned flags, int device) {
  if (!initialised || flags != 0 || device < 0 || device > 1) return invalid;
  while (is("hang") && device == 1) pause();
  current = new Context{device};
  *context = current;
  return 0;
}
int cuCtxDestroy_v2(void* context) {
  if (current == context) current = nullptr;
  delete static_cast<Context*>(context);
  return 0;
}
int cuCtxSetCurrent(void* context) {
  current = static_cast<Context*>(context);
  return 0;
}
int cuCtxSynchronize() { return 0; }
int cuCtxEnablePeerAccess(void* peer, unsigned flags) { return peer != nullptr && flags == 0 ? 0 : invalid; }
int cuDeviceCanAccessPeer(int* may, int device, int peer) {
  *may = device != peer;
  return 0;
}
int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
  if (current == nullptr) return invalid_context;
  if (is("memory") && bytes >= (256u << 20)) return out_of_memory;
  *pointer = reinterpret_cast<std::uint64_t>(std::malloc(bytes));
  allocated[current->device] += bytes;
  return 0;
}
int cuMemFree_v2(std::uint64_t pointer) {
  std::free(reinterpret_cast<void*>(pointer));
  return 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyPeer(std::uint64_t to, void* to_context, std::uint64_t from, void* from_context,
                 std::size_t bytes) {
  const int source = static_cast<Context*>(from_context)->device;
  if (source == static_cast<Context*>(to_context)->device) return invalid;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  if (is("astray") && source == 1) reinterpret_cast<char*>(to)[4096] ^= 1;
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  const char* text = static_cast<const char*>(image);
  if (std::strncmp(text, ".version ", 9) != 0 || std::strstr(text, ".entry add(") == nullptr) return bad_ptx;
  *module = const_cast<void*>(image);
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (module == nullptr || std::strcmp(name, "add") != 0) return invalid;
  *function = module;
  return 0;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** arguments,
                   void** extra) {
  if (function == nullptr || grid_y * grid_z * block_y * block_z != 1 || shared != 0 || stream != nullptr ||
      extra != nullptr) {
    return invalid;
  }
  const auto* a = reinterpret_cast<const float*>(*static_cast<std::uint64_t*>(arguments[0]));
  const auto* b = reinterpret_cast<const float*>(*static_cast<std::uint64_t*>(arguments[1]));
  auto* c = reinterpret_cast<float*>(*static_cast<std::uint64_t*>(arguments[2]));
  const unsigned n = *static_cast<unsigned*>(arguments[3]);
  if (static_cast<std::uint64_t>(grid_x) * block_x < n) return invalid;
  for (unsigned i = 0; i < n; ++i) c[i] = a[i] + b[i];
  if (is("wrong") && current->device == 1) c[12345] += 1;
  return 0;
}

}  // extern "C"
