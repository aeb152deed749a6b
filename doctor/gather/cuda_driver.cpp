// SPDX-License-Identifier: MIT
#include "doctor/gather/cuda_driver.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ddlrun::doctor {
namespace {

constexpr std::size_t trial_bytes = 256u << 20, copy_bytes = 4u << 20;
constexpr unsigned numbers = 4u << 20;

// c[i] = a[i] + b[i] for every GPU since Maxwell; the driver compiles it.
constexpr const char* add_kernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<11>;
  ld.param.u64 %rd1, [pa];
  ld.param.u64 %rd2, [pb];
  ld.param.u64 %rd3, [pc];
  ld.param.u32 %r1, [pn];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd4, %rd1;
  cvta.to.global.u64 %rd5, %rd2;
  cvta.to.global.u64 %rd6, %rd3;
  mul.wide.u32 %rd7, %r5, 4;
  add.s64 %rd8, %rd4, %rd7;
  add.s64 %rd9, %rd5, %rd7;
  add.s64 %rd10, %rd6, %rd7;
  ld.global.f32 %f1, [%rd8];
  ld.global.f32 %f2, [%rd9];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd10], %f3;
DONE:
  ret;
}
)";

using Pointer = std::uint64_t;  // CUdeviceptr

// Frees device memory, or ends a context, on every way out.
class OnExit {
 public:
  explicit OnExit(std::function<void()> action) : action_(std::move(action)) {}
  ~OnExit() { action_(); }
  OnExit(const OnExit&) = delete;
  OnExit& operator=(const OnExit&) = delete;

 private:
  std::function<void()> action_;
};

}  // namespace

template <typename... Arguments>
std::string CudaDriver::call(const char* function, Arguments... arguments) const {
  try {
    const int code = library_.function<int(Arguments...)>(function)(arguments...);
    if (code == 0) return "";
    const char* name = nullptr;
    library_.function<int(int, const char**)>("cuGetErrorName")(code, &name);
    return fmt::format("{}: {}", function,
                       name == nullptr ? fmt::format("error {}", code)
                                       : printable(std::string_view(name, ::strnlen(name, 80))));
  } catch (const Error&) {
    return fmt::format("this driver has no {}", function);
  }
}

CudaDriver CudaDriver::open(const std::string& path) {
  CudaDriver driver(Plugin::open(path));
  const std::string problem = driver.call("cuInit", 0u);
  if (!problem.empty()) throw Error(ErrorKind::request, {problem, path, "nvidia-smi"});
  return driver;
}

int CudaDriver::count() const {
  int number = 0;
  return call("cuDeviceGetCount", &number).empty() ? number : 0;
}

std::string CudaDriver::pci_address(int gpu) const {
  char text[32] = {};
  if (!call("cuDeviceGetPCIBusId", &text[0], static_cast<int>(sizeof(text)), gpu).empty()) return "";
  std::string address(text, ::strnlen(text, sizeof(text)));
  std::transform(address.begin(), address.end(), address.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  return address;
}

std::string CudaDriver::try_gpu(int gpu, const std::function<void()>& while_busy) const {
  void* context = nullptr;
  if (auto problem = call("cuCtxCreate_v2", &context, 0u, gpu); !problem.empty()) return problem;
  const OnExit end([&] { call("cuCtxDestroy_v2", context); });
  Pointer memory = 0;
  if (auto problem = call("cuMemAlloc_v2", &memory, trial_bytes); !problem.empty()) {
    return fmt::format("256 MiB of memory: {}", problem);
  }
  const OnExit release([&] { call("cuMemFree_v2", memory); });
  std::string problem = add_vectors();
  while_busy();
  return problem;
}

std::string CudaDriver::add_vectors() const {
  std::vector<float> a(numbers), b(numbers), sum(numbers);
  for (unsigned i = 0; i < numbers; ++i) {
    a[i] = static_cast<float>(i % 4096);
    b[i] = static_cast<float>(2 * (i % 1024));  // sums of small whole numbers are exact
  }
  const std::size_t bytes = numbers * sizeof(float);
  std::array<Pointer, 3> memory{};
  const OnExit release([&] {
    for (const Pointer pointer : memory) {
      if (pointer != 0) call("cuMemFree_v2", pointer);
    }
  });
  for (Pointer& pointer : memory) {
    if (auto problem = call("cuMemAlloc_v2", &pointer, bytes); !problem.empty()) return problem;
  }
  std::string problem = call("cuMemcpyHtoD_v2", memory[0], static_cast<const void*>(a.data()), bytes);
  if (problem.empty())
    problem = call("cuMemcpyHtoD_v2", memory[1], static_cast<const void*>(b.data()), bytes);
  if (problem.empty()) problem = launch_add(memory[0], memory[1], memory[2]);
  if (problem.empty()) problem = call("cuMemcpyDtoH_v2", static_cast<void*>(sum.data()), memory[2], bytes);
  if (!problem.empty()) return problem;
  for (unsigned i = 0; i < numbers; ++i) {
    if (sum[i] != a[i] + b[i])
      return fmt::format("wrong result: element {} is {}, not {}", i, sum[i], a[i] + b[i]);
  }
  return "";
}

std::string CudaDriver::launch_add(Pointer a, Pointer b, Pointer sum) const {
  void* module = nullptr;
  if (auto problem = call("cuModuleLoadData", &module, static_cast<const void*>(add_kernel));
      !problem.empty())
    return problem;
  void* kernel = nullptr;
  if (auto problem = call("cuModuleGetFunction", &kernel, module, "add"); !problem.empty()) return problem;
  unsigned count = numbers;
  void* arguments[] = {&a, &b, &sum, &count};
  auto problem = call("cuLaunchKernel", kernel, numbers / 256, 1u, 1u, 256u, 1u, 1u, 0u,
                      static_cast<void*>(nullptr), &arguments[0], static_cast<void**>(nullptr));
  return problem.empty() ? call("cuCtxSynchronize") : problem;
}

bool CudaDriver::may_access(int from, int to) const {
  int may = 0;
  return call("cuDeviceCanAccessPeer", &may, from, to).empty() && may == 1;
}

std::string CudaDriver::try_copy(int from, int to) const {
  void *source = nullptr, *target = nullptr;
  if (auto problem = call("cuCtxCreate_v2", &source, 0u, from); !problem.empty()) return problem;
  const OnExit end_source([&] { call("cuCtxDestroy_v2", source); });
  if (auto problem = call("cuCtxCreate_v2", &target, 0u, to); !problem.empty()) return problem;
  const OnExit end_target([&] { call("cuCtxDestroy_v2", target); });
  // The target context is current: it opens its way to the source's memory, so that the copy goes by that
  // way.
  if (may_access(to, from)) {
    if (auto problem = call("cuCtxEnablePeerAccess", source, 0u); !problem.empty()) return problem;
  }
  return copy_and_look(source, target);
}

std::string CudaDriver::copy_and_look(void* from, void* to) const {
  std::vector<std::uint32_t> sent(copy_bytes / 4), received(copy_bytes / 4);
  for (std::uint32_t i = 0; i < sent.size(); ++i) sent[i] = i * 2654435761u;
  Pointer source = 0, target = 0;
  std::string problem = call("cuMemAlloc_v2", &target, copy_bytes);
  if (problem.empty()) problem = call("cuCtxSetCurrent", from);
  if (problem.empty()) problem = call("cuMemAlloc_v2", &source, copy_bytes);
  if (problem.empty())
    problem = call("cuMemcpyHtoD_v2", source, static_cast<const void*>(sent.data()), copy_bytes);
  if (problem.empty()) problem = call("cuMemcpyPeer", target, to, source, from, copy_bytes);
  if (problem.empty()) problem = call("cuCtxSynchronize");
  // Its owner reads it: through the sender's window a copy that never arrived can look right.
  if (problem.empty()) problem = call("cuCtxSetCurrent", to);
  if (problem.empty())
    problem = call("cuMemcpyDtoH_v2", static_cast<void*>(received.data()), target, copy_bytes);
  if (!problem.empty()) return problem;  // the contexts take their memory with them
  const auto [want, got] = std::mismatch(sent.begin(), sent.end(), received.begin());
  if (want == sent.end()) return "";
  return fmt::format("wrong data at byte {}", 4 * (want - sent.begin()));
}

}  // namespace ddlrun::doctor
