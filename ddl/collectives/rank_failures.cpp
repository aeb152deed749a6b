// SPDX-License-Identifier: MIT
// What Collectives sends to the other ranks beside the data: errors, the end, and the rendezvous of calls
// that something else carries out.
#include "ddl/collectives/collectives.hpp"

#include <vector>

namespace ddl {

void Collectives::rendezvous(const CallInfo& info, const Tensor& tensor) {
  family_.active_call.begin(info, tensor, group_);
  const ActiveCallTracker::Scope scope(family_.active_call);
  InterNodeOptions options;
  options.signature = static_cast<std::uint32_t>(info.call.signature);
  node_.rendezvous(info);
  ddl::barrier(comms(), options);
}

void Collectives::report_end(ContextEnd how) noexcept {
  node_.end(how);
  if (!family_.inspector) return;
  std::vector<int> elsewhere;  // the ranks of this host see it in shared memory
  for (const int rank : place_.neighbours()) {
    if (grid_.host_of[static_cast<std::size_t>(rank)] != place_.host)
      elsewhere.push_back(grid_.first_rank_of(rank));
  }
  family_.inspector->report_end(elsewhere, how, group_.id);
}

void Collectives::leave(bool calls_under_way) noexcept {
  if (calls_under_way) return node_.end(ContextEnd::by_exit);
  report_end(ContextEnd::by_exit);
  if (family_.inspector) family_.inspector->flush();
}

void Collectives::check_errors() {
  for (const Collectives* const member : family_.members) member->node_.check_errors();
  if (family_.inspector) family_.inspector->poll(-1);
}

// Ranks that wait for this one may do so in any group.
void Collectives::broadcast_error(const Error& error) noexcept {
  for (Collectives* const member : family_.members) member->node_.report_failure(error);
  if (family_.inspector) family_.inspector->report_failure(error);
}

}  // namespace ddl
