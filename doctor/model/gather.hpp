// SPDX-License-Identifier: MIT
// Gatherers: functions that run on a host and observe it. The agent runs each in a child process of its own
// with a time limit, so that a hung mount or a crashing library costs one fact, not the host.
#pragma once

#include "base/os/host_info.hpp"
#include "base/os/system.hpp"
#include "doctor/model/facts.hpp"
#include "doctor/model/probe_request.hpp"

#include <chrono>
#include <span>
#include <string_view>

namespace ddlrun::doctor {

// Where gatherers look. `root` is "" on a real host; tests put a directory with a fake /sys, /proc, /dev
// there.
struct GatherContext {
  System& system;
  HostInfo& kernel;
  const ProbeRequest& request;
  std::string root;
};

struct Gatherer {
  std::string_view name;  // "limits": what --explain and a failed one name
  Level level = Level::quick;
  std::chrono::milliseconds limit{5000};
  void (*gather)(const GatherContext& context, Facts& facts);
};

// One table a subject; each lives in gather/SUBJECT.cpp beside its functions.
std::span<const Gatherer> system_gatherers();    // limits, kernel, cpu, memory, disks, data, time
std::span<const Gatherer> name_gatherers();      // names, resolution, interfaces, routes, ports
std::span<const Gatherer> software_gatherers();  // MPI, scheduler, libraries, environment, programs
std::span<const Gatherer> device_gatherers();    // GPUs, peer-to-peer, InfiniBand, Omni-Path, EFA

}  // namespace ddlrun::doctor
