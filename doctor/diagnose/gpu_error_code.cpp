// SPDX-License-Identifier: MIT
#include "doctor/diagnose/gpu_error_code.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

struct Code {
  unsigned number;
  std::string_view words;
};

// The numbers that HIP shares.
constexpr Code codes[] = {
    {1, "cudaErrorInvalidValue: an argument is not valid"},
    {2, "cudaErrorMemoryAllocation: out of memory"},
    {3, "cudaErrorInitializationError: the driver cannot be initialized"},
    {35, "cudaErrorInsufficientDriver: the driver is older than the run time"},
    {46, "cudaErrorDevicesUnavailable: all GPUs are busy"},
    {98, "cudaErrorInvalidDeviceFunction: no such kernel for this GPU"},
    {100, "cudaErrorNoDevice: no GPU is visible"},
    {101, "cudaErrorInvalidDevice: no GPU has that number"},
    {201, "cudaErrorDeviceUninitialized: invalid device context"},
    {209, "cudaErrorNoKernelImageForDevice: no kernel image for this GPU"},
    {214, "cudaErrorECCUncorrectable: uncorrectable ECC error of the GPU's memory"},
    {217, "cudaErrorPeerAccessUnsupported: no peer access between these GPUs"},
    {400, "cudaErrorInvalidResourceHandle: a stream or event of another context"},
    {700, "cudaErrorIllegalAddress: a kernel used an illegal address"},
    {701, "cudaErrorLaunchOutOfResources: too many threads or registers for a kernel"},
    {702, "cudaErrorLaunchTimeout: a kernel ran too long"},
    {710, "cudaErrorAssert: an assertion in a kernel"},
    {716, "cudaErrorMisalignedAddress: a kernel used a misaligned address"},
    {719, "cudaErrorLaunchFailure: a kernel failed"},
    {801, "cudaErrorNotSupported: not supported on this system"},
    {802, "cudaErrorSystemNotReady: the fabric manager or the driver is not ready"},
    {999, "cudaErrorUnknown: unknown; often the driver or the GPU"},
};

}  // namespace

std::string gpu_error_words(std::string_view text) {
  for (const std::string_view head : {"CUDA error", "CUDA Error", "cuda error", "HIP error", "hip error"}) {
    const std::size_t at = text.find(head);
    if (at == npos) continue;
    const std::size_t begin = text.find_first_not_of(" :=(", at + head.size());
    if (begin == npos || begin == at + head.size()) continue;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    const auto number = parse_unsigned(text.substr(begin, end - begin));
    const bool has_words = text.find_first_not_of(" ).,", end) != npos;
    if (!number || has_words) continue;
    for (const Code& code : codes) {
      if (code.number == *number) return std::string(code.words);
    }
  }
  return "";
}

}  // namespace ddlrun::diagnose
