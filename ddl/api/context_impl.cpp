// SPDX-License-Identifier: MIT
#include "ddl/api/context_impl.hpp"

#include "ddl/core/checks.hpp"
#include "ddl/core/rank_consistency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddl {
namespace {

// Ranks with other options would add up what others never sent.
void require_same_options(Transport& transport, const std::vector<std::string>& hosts,
                          const Options& options) {
  std::vector<std::string> names;
  for (const std::string& host : hosts) names.push_back(name_rank(static_cast<int>(names.size()), host));
  if (const auto other = find_other_options(transport.gather(render_shared_options(options)), names))
    throw *other;
}

// Without dims, hosts may have different numbers of ranks: then each rank stands for itself, and all share
// one wire.
Grid grid_of(Transport& transport, const Options& options, const RankGroup& group) {
  std::vector<std::string> hosts = transport.gather(transport.host_name());
  if (group.id == 0) require_same_options(transport, hosts, options);
  std::map<std::string, int> count;
  for (const std::string& host : hosts) ++count[host];
  const int first = count.begin()->second;
  const bool even =
      std::all_of(count.begin(), count.end(), [&](const auto& each) { return each.second == first; });
  if (options.dims.empty() && !even) {
    for (std::size_t r = 0; r < hosts.size(); ++r) hosts[r] += fmt::format(" #{}", r);
  }
  Grid grid = plan_grid(options.dims, hosts);
  grid.first_ranks = group.ranks;
  return grid;
}

// The first Context opens its family. Several hosts need the inspector from the start; on one host shared
// memory shows which rank is missing until the first split.
Grid open_grid(CallFamily& family, Transport& transport, const Options& options, const RankGroup& group) {
  Grid grid = grid_of(transport, options, group);
  if (group.id != 0) return grid;
  family.grid = grid;
  if (grid.hosts.size() > 1) family.open_inspector(transport);
  return grid;
}

// Dims are those of all ranks, and so is the count of sums of a report.
Options options_of_group(Options options) {
  options.dims.clear();
  options.dump_every = options.rebind_every = 0;
  return options;
}

}  // namespace

std::shared_ptr<WorkQueue> Context::Impl::choose_queue(const Transport& transport) {
  static std::mutex mutex;
  static std::weak_ptr<WorkQueue> shared;
  if (!transport.takes_one_thread()) return std::make_shared<WorkQueue>();
  const std::lock_guard lock(mutex);
  std::shared_ptr<WorkQueue> queue = shared.lock();
  if (!queue) shared = queue = std::make_shared<WorkQueue>();
  return queue;
}

Context::Impl::Impl(std::shared_ptr<Family> given, const Options& chosen, std::unique_ptr<Transport> own,
                    RankGroup which)
    : family(std::move(given)),
      own_transport(std::move(own)),
      transport(own_transport ? *own_transport : *family->transport),
      options(chosen),
      group(std::move(which)),
      grid(open_grid(family->calls, transport, options, group)),
      start_up(transport),
      collectives(transport, grid, options, family->calls, group),
      gpu(collectives, transport, grid, options) {
  start_up.is_complete = true;
  family->members.push_back(this);
}

Context::Impl::~Impl() {
  const std::lock_guard lock(family->mutex);
  std::erase(family->members, this);
}

void Context::Impl::abandon_family() noexcept {
  for (Impl* const member : family->members) {
    member->gpu.abandon();
    member->collectives.abandon();
    member->transport.abandon();
  }
  family->transport->abandon();  // its own Context may have ended
}

void Context::Impl::leave() noexcept {
  const std::unique_lock lock(family->mutex, std::try_to_lock);
  if (lock && !family->broken) collectives.leave(family->calls_under_way != 0 || !family->queue->is_idle());
}

std::vector<std::string> Context::Impl::gather(OpType op, const std::string& mine) {
  return gather_strings(mine, transport.rank(), transport.size(), [&](const Tensor& tensor) {
    call([&](std::uint64_t its) { collectives.sum(op, tensor, its); });
  });
}

void Context::Impl::end() noexcept {
  family->queue->drain();
  if (std::uncaught_exceptions() == exceptions) return collectives.end();
  abandon(fmt::format("an exception ended the Context of {}", grid.name_of(transport.rank())));
}

void Context::Impl::abandon(const std::string& what) noexcept {
  const Error left(Fault::lost, what, grid.name_of(transport.rank()),
                   "read the message of that rank: it has the reason");
  try {
    attempt(
        [&](std::uint64_t) {
          collectives.broadcast_error(left);
          throw Error(left);
        },
        number);
  } catch (...) {  // known here already
  }
}

std::shared_ptr<Context::Impl> Context::Impl::split(std::optional<int> color, int key,
                                                    const std::string& name) {
  if (color && *color < 0)
    throw Error(Fault::usage, fmt::format("invalid color {}: must be 0 or more", *color), "split",
                "std::nullopt (in C DDL_NO_GROUP) for a rank that will be in no group");
  if (family->queue->is_this_thread())
    throw Error(Fault::usage, "split is called in a call of start()", "split",
                "split on the program's own thread, before start()");
  family->queue->drain();
  const std::uint64_t split_number = number;
  std::vector<SplitRequest> requests;
  for (const std::string& text :
       gather(OpType::split, render_split_request({color, key, transport.next_channel()}))) {
    const auto request = parse_split_request(text);
    if (!request)
      throw Error(Fault::mismatch, "a rank of another version of libddl", "split",
                  "the same libddl on all hosts");
    requests.push_back(*request);
  }
  const SplitPlan plan = plan_split(requests, transport.rank());
  std::shared_ptr<Impl> made;
  call([&](std::uint64_t) {
    try {
      made = make_group(plan, split_number, name);
    } catch (const Error& error) {
      collectives.broadcast_error(error);
      throw;
    }
  });
  return made;
}

// The first split of all ranks opens the inspector on one host, too: from now on a rank may wait in a group
// for one that waits in another.
std::shared_ptr<Context::Impl> Context::Impl::make_group(const SplitPlan& plan, std::uint64_t split_number,
                                                         const std::string& name) {
  std::unique_ptr<Transport> ranks = transport.split(plan);
  if (group.id == 0 && transport.size() > 1) family->calls.open_inspector(transport);
  if (!ranks) return nullptr;
  return std::make_shared<Impl>(family, options_of_group(options), std::move(ranks),
                                ddl::make_group(group, plan, split_number, name));
}

}  // namespace ddl
