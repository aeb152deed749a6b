// SPDX-License-Identifier: MIT
#include "ddl/api/live_context.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace ddl {
namespace {

struct LiveContexts {
  std::mutex mutex;
  std::vector<const LiveContext*> all;
};

// Never destroyed: exit() may come at any time.
LiveContexts& live_contexts() {
  static auto* const contexts = new LiveContexts;
  return *contexts;
}

}  // namespace

void leave_all_contexts() {
  LiveContexts& contexts = live_contexts();
  const std::unique_lock lock(contexts.mutex, std::try_to_lock);
  if (!lock) return;
  for (const LiveContext* each : contexts.all)
    if (each->process_ == getpid()) each->at_exit_();
}

LiveContext::LiveContext(std::function<void()> at_exit) : at_exit_(std::move(at_exit)), process_(getpid()) {
  LiveContexts& contexts = live_contexts();
  const std::lock_guard lock(contexts.mutex);
  static const int registered = std::atexit(leave_all_contexts);
  static_cast<void>(registered);
  contexts.all.push_back(this);
}

LiveContext::~LiveContext() {
  LiveContexts& contexts = live_contexts();
  const std::lock_guard lock(contexts.mutex);
  std::erase(contexts.all, this);
}

}  // namespace ddl
