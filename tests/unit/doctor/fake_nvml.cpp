// SPDX-License-Identifier: MIT
// A stand-in for libnvidia-ml.so.1: the entry points and structures of the documented interface, and four
// Tesla P100 as in an IBM S822LC. FAKE_NVML in the environment states what is wrong with them.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int success = 0, uninitialised = 1, invalid = 2, not_supported = 3, no_size = 7,
              driver_not_loaded = 9, gpu_is_lost = 15, mismatch = 18, version_mismatch = 25;
constexpr unsigned gpu_count = 4;
constexpr unsigned domains[gpu_count] = {2, 3, 6, 7};

bool initialised = false;
int devices[gpu_count];

bool is(const char* behaviour) {
  const char* set = std::getenv("FAKE_NVML");
  return set != nullptr && std::strcmp(set, behaviour) == 0;
}

// The device's number, or -1 for anything that this library did not hand out.
int index_of(const void* device) {
  for (unsigned i = 0; i < gpu_count; ++i) {
    if (device == &devices[i]) return static_cast<int>(i);
  }
  return -1;
}

template <typename Value>
int give(const void* device, Value* into, Value value) {
  if (!initialised) return uninitialised;
  if (index_of(device) < 0 || into == nullptr) return invalid;
  *into = value;
  return success;
}

int give_text(const void* device, char* into, unsigned size, const char* text) {
  if (!initialised) return uninitialised;
  if (index_of(device) < 0) return invalid;
  if (std::strlen(text) + 1 > size) return no_size;
  std::strcpy(into, text);
  return success;
}

struct PciInfo {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId;
};
struct FieldValue {
  unsigned fieldId, scopeId;
  long long timestamp, latencyUsec;
  int valueType, nvmlReturn;
  union {
    double dVal;
    unsigned uiVal;
    unsigned long long ullVal;
  } value;
};

constexpr unsigned long long mebi = 1ull << 20;

unsigned long long used_on(const void* device) {
  return is("process") && index_of(device) == 1 ? 5000 * mebi : 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (is("mismatch")) return mismatch;
  if (is("no-driver")) return driver_not_loaded;
  initialised = true;
  return success;
}
int nvmlShutdown() { return success; }

const char* nvmlErrorString(int code) {
  switch (code) {
    case mismatch:
      return "Driver/library version mismatch";
    case driver_not_loaded:
      return "Driver Not Loaded";
    case gpu_is_lost:
      return "GPU is lost";
    case no_size:
      return "Insufficient Size";
    default:
      return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "418.87.00");
  return initialised ? success : uninitialised;
}
int nvmlSystemGetCudaDriverVersion(int* version) {
  *version = 10010;
  return success;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = is("fewer") ? 3 : gpu_count;
  return initialised ? success : uninitialised;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= gpu_count) return invalid;
  if (is("lost") && index == 2) return gpu_is_lost;
  *device = &devices[index];
  return success;
}

int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  while (is("hang")) pause();
  return give_text(device, text, size, "Tesla P100-SXM2-16GB");
}
int nvmlDeviceGetVbiosVersion(void* device, char* text, unsigned size) {
  return give_text(device, text, size, "86.00.4D.00.02");
}
int nvmlDeviceGetMinorNumber(void* device, unsigned* minor) {
  return give(device, minor, static_cast<unsigned>(index_of(device)));
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  const unsigned long long total = 16280 * mebi,
                           used = used_on(device) + 300 * mebi;  // with the driver's own
  return give(device, memory, {total, total - used, used});
}
int nvmlDeviceGetPersistenceMode(void* device, int* state) {
  return give(device, state, is("persistence") ? 0 : 1);
}
int nvmlDeviceGetComputeMode(void* device, int* mode) { return give(device, mode, is("exclusive") ? 3 : 0); }
int nvmlDeviceGetTotalEccErrors(void* device, int kind, int counter, unsigned long long* count) {
  const bool bad = is("ecc") && index_of(device) == 3 && kind == 1 && counter == 0;
  return give(device, count, bad ? 2ull : 0ull);
}
int nvmlDeviceGetMemoryErrorCounter(void* device, int kind, int counter, int location,
                                    unsigned long long* count) {
  const bool bad = is("ecc") && kind == 0 && counter == 0 && location == 2;
  return give(device, count, bad ? 17ull : 0ull);
}
int nvmlDeviceGetRetiredPages(void* device, int cause, unsigned* count, unsigned long long* addresses) {
  if (index_of(device) < 0) return invalid;
  const unsigned pages = is("ecc") && cause == 1 && index_of(device) == 3 ? 1 : 0;
  const bool fits = *count >= pages;
  *count = pages;
  if (!fits) return no_size;
  if (pages > 0) addresses[0] = 0x1000;
  return success;
}
int nvmlDeviceGetRetiredPagesPendingStatus(void* device, int* state) {
  return give(device, state, is("ecc") && index_of(device) == 3 ? 1 : 0);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  const unsigned long long idle = 1;
  return give(device, reasons, is("throttled") && index_of(device) == 0 ? 0x48ull : idle);
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
  return sensor == 0 ? give(device, degrees, is("throttled") ? 89u : 34u) : invalid;
}
int nvmlDeviceGetTemperatureThreshold(void* device, int kind, unsigned* degrees) {
  return kind == 1 ? give(device, degrees, 82u) : not_supported;
}
int nvmlDeviceGetApplicationsClock(void* device, int clock, unsigned* mhz) {
  return clock == 1 ? give(device, mhz, is("throttled") ? 544u : 1328u) : not_supported;
}
int nvmlDeviceGetDefaultApplicationsClock(void* device, int clock, unsigned* mhz) {
  return clock == 1 ? give(device, mhz, 1328u) : not_supported;
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* value) { return give(device, value, 1u); }
int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* value) { return give(device, value, 16u); }
int nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* value) { return give(device, value, 3u); }
int nvmlDeviceGetMaxPcieLinkWidth(void* device, unsigned* value) { return give(device, value, 16u); }
int nvmlDeviceGetP2PStatus(void* a, void* b, int what, int* status) {
  if (what != 0 || index_of(a) < 0 || index_of(b) < 0) return invalid;
  // NVLink joins the pairs of a socket; the two sockets only by way of the processors.
  *status = index_of(a) / 2 == index_of(b) / 2 || is("all-peers") ? 0 : 1;
  return success;
}
int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* state) {
  if (link >= 4) return invalid;
  return give(device, state, is("nvlink") && index_of(device) == 0 && link == 3 ? 0 : 1);
}
int nvmlDeviceGetFieldValues(void* device, int count, FieldValue* values) {
  if (index_of(device) < 0 || count != 1) return invalid;
  values[0].nvmlReturn = values[0].fieldId == 90 ? success : not_supported;
  values[0].valueType = 1;
  values[0].value.uiVal = 19200;
  return success;
}

// Functions of newer drivers; a library with "old" in its name lacks them.
#ifndef FAKE_NVML_OLD
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  const int i = index_of(device);
  if (i < 0) return invalid;
  PciInfo filled{};
  filled.domain = domains[i];
  filled.bus = 1;
  filled.pciDeviceId = 0x15f910de;
  std::snprintf(filled.busIdLegacy, sizeof(filled.busIdLegacy), "%04X:01:00.0", domains[i]);
  std::snprintf(filled.busId, sizeof(filled.busId), "%08X:01:00.0", domains[i]);
  *info = filled;
  return success;
}
int nvmlDeviceGetMemoryInfo_v2(void* device, MemoryV2* memory) {
  if (memory->version != 0x02000028) return version_mismatch;
  const unsigned long long total = 16280 * mebi, used = used_on(device);
  *memory = {memory->version, total, 300 * mebi, total - used - 300 * mebi, used};
  return index_of(device) < 0 ? invalid : success;
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  if (!is("mig")) return not_supported;
  *pending = 1;
  return give(device, current, 1u);
}
int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  if (!is("remap")) return not_supported;
  *corrected = 1;
  *uncorrected = 600;
  *pending = index_of(device) == 1 ? 1 : 0;
  *failed = 0;
  return success;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* processes) {
  if (index_of(device) < 0) return invalid;
  const unsigned running = is("process") && index_of(device) == 1 ? 2 : 0;
  if (*count < running) return no_size;
  *count = running;
  // The second is this process, so that /proc has an owner and a command line to show.
  if (running > 0) processes[0] = {999999999, 4000 * mebi, ~0u, ~0u};
  if (running > 0) processes[1] = {static_cast<unsigned>(getpid()), 1000 * mebi, ~0u, ~0u};
  return success;
}
int nvmlDeviceGetGpuFabricInfo(void* device, void* info) {
  (void)device;
  (void)info;
  return not_supported;
}
#else
int nvmlDeviceGetPciInfo_v2(void* device, PciInfo* info) {
  const int i = index_of(device);
  if (i < 0) return invalid;
  info->domain = domains[i];
  info->bus = 1;
  info->device = 0;
  return success;
}
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, void* processes) {
  struct First {
    unsigned pid;
    unsigned long long usedGpuMemory;
  };
  if (index_of(device) < 0) return invalid;
  *count = 2;
  static_cast<First*>(processes)[0] = {11, 1 * mebi};
  static_cast<First*>(processes)[1] = {12, ~0ull};
  return success;
}
#endif

}  // extern "C"
