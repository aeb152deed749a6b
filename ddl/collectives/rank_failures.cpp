// SPDX-License-Identifier: MIT
// What Collectives sends to the other ranks beside the data: errors, the end, and the rendezvous of calls
// that something else carries out.
#include "ddl/collectives/collectives.hpp"

#include <vector>

namespace ddl {

void Collectives::rendezvous(const CallInfo& info, const Tensor& tensor) {
  active_call_.begin(info, tensor);
  const ActiveCallTracker::Scope scope(active_call_);
  InterNodeOptions options;
  options.signature = static_cast<std::uint32_t>(info.call.signature);
  node_.rendezvous(info);
  ddl::barrier(comms(), options);
}

void Collectives::end() noexcept {
  node_.end();
  if (!inspector_) return;
  std::vector<int> elsewhere = place_.neighbours();  // the ranks of this host see it in shared memory
  std::erase_if(elsewhere,
                [&](int rank) { return grid_.host_of[static_cast<std::size_t>(rank)] == place_.host; });
  inspector_->report_end(elsewhere);
}

void Collectives::leave() noexcept {
  end();
  if (inspector_) inspector_->flush();
}

void Collectives::check_errors() {
  node_.check_errors();
  if (inspector_) inspector_->poll(-1);
}

void Collectives::broadcast_error(const Error& error) noexcept {
  node_.report_failure(error);
  if (inspector_) inspector_->report_failure(error);
}

}  // namespace ddl
