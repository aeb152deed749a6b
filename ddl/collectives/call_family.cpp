// SPDX-License-Identifier: MIT
#include "ddl/collectives/call_family.hpp"

#include "ddl/collectives/collectives.hpp"

#include <utility>

namespace ddl {

void CallFamily::open_inspector(Transport& transport) {
  if (inspector) return;
  std::unique_ptr<OobChannel> channel = transport.make_oob_channel();
  if (!channel) return;
  inspector = std::make_unique<LivenessInspector>(
      std::move(channel), [this](int rank) { return grid.name_of(rank); },
      grid.place(transport.rank()).neighbours());
  inspector->set_call_finder(
      {[this] { return active_call.summary(); },
       [this](std::uint64_t group, std::uint64_t sequence) { return active_call.summary(group, sequence); }});
  for (Collectives* const member : members) member->use_inspector();
}

}  // namespace ddl
