// SPDX-License-Identifier: MIT
#include "ddl/collectives.hpp"

#include "ddl/agreement.hpp"
#include "ddl/checks.hpp"
#include "ddl/partial_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ddl {
namespace {

// Tensors up to this travel together in all_reduce_n.
constexpr std::size_t most_together_bytes = 64 << 10;
constexpr std::size_t together_bytes = 4 << 20;

Reduction reduction_of(const Tensor& tensor, Operation operation, int ranks) {
  check_operation(tensor, operation);
  return {tensor.type, operation, operation == Operation::average ? 1.0 / ranks : 1.0};
}

std::vector<Wire*> pointers(const std::vector<std::unique_ptr<Wire>>& wires) {
  std::vector<Wire*> all;
  for (const auto& wire : wires) all.push_back(wire.get());
  return all;
}

// Ranks of one host see each other; those of several have to ask.
std::unique_ptr<RollCall> make_roll_call(Ranks& ranks, const Grid& grid, const Place& place) {
  if (grid.hosts.size() < 2) return nullptr;
  std::unique_ptr<NoteBox> box = ranks.make_notes();
  if (!box) return nullptr;
  return std::make_unique<RollCall>(
      std::move(box), [&grid](int rank) { return grid.name_of(rank); }, place.neighbours());
}

}  // namespace

Collectives::Collectives(Ranks& ranks, const Grid& grid, const Options& options)
    : ranks_(ranks),
      grid_(grid),
      options_(options),
      place_(grid.place(ranks.rank())),
      roll_(make_roll_call(ranks, grid, place_)),
      group_(ranks.make_host_group(grid)),
      memory_(*group_),
      stage_(*group_, options.timeout_seconds),
      wires_(ranks.make_wires(grid, options.timeout_seconds)),
      watch_(ranks, grid, report_interval(options), wires_),
      wire_pointers_(pointers(wires_)),
      cache_(ranks.rank() == 0 ? options.cache_folder.value_or("") : "",
             render_topology(grid, options, kernel_name())) {
  stage_.watch(stall_watch());
  if (roll_) stage_.call_roll(roll_.get(), place_.local_ranks);
  for (const auto& wire : wires_) {
    wire->watch(stall_watch());
    wire->name_calls([this] { return name_call(); });
    wire->call_roll(roll_.get());
  }
  if (options.mode == Mode::explore && ranks.size() > 1) recall_ways();
}

Collectives::~Collectives() = default;

Collectives::Asked Collectives::ask(Verb verb, const Tensor& tensor, int detail, std::uint64_t number) {
  check_tensor(tensor);
  under_way_ = UnderWay{verb, number, &tensor};
  const std::uint64_t numbers[] = {number, static_cast<std::uint64_t>(verb), tensor.count,
                                   static_cast<std::uint64_t>(tensor.type),
                                   static_cast<std::uint64_t>(detail)};
  Asked asked;
  asked.call = {number, hash_text(tensor.name, hash_numbers(numbers)), verb};
  asked.wire.signature = static_cast<std::uint32_t>(asked.call.signature);
  asked.wire.narrow = options_.wire;
  return asked;
}

// By the name and the tensor that the program gave the call, whatever part of it this is.
void Collectives::meet_whole(const Tensor& tensor, const Asked& asked) {
  stage_.meet({asked.call.program.value_or(Verb::barrier), asked.call, tensor.count, tensor.type, 0});
}

template <typename Work>
void Collectives::guarded(const Work& work) {
  const Past past{under_way_};
  try {
    work();
  } catch (const Error& error) {
    stage_.give_up(error);
    if (roll_) roll_->give_up(error);
    throw;
  } catch (const std::exception& error) {  // an update's, or no memory: the others would wait for this rank
    const std::string me = grid_.name_of(ranks_.rank());
    const Error failed(Fault::lost, fmt::format("{} failed in {}: {}", me, name_call(), error.what()), me,
                       "look for that rank's own message");
    stage_.give_up(failed);
    if (roll_) roll_->give_up(failed);
    throw;
  }
}

void Collectives::all_reduce(const Tensor& tensor, Operation operation, std::uint64_t number) {
  const Reduction reduction = reduction_of(tensor, operation, ranks_.size());
  const Asked asked = ask(Verb::all_reduce, tensor, static_cast<int>(operation), number);
  guarded([&] {
    watch_.run(
        tensor.bytes(), [&] { meet_whole(tensor, asked); },
        [&] {
          if (options_.mode == Mode::explore) {
            explore(tensor, reduction, asked);
          } else {
            sum_by(options_.mode, tensor, reduction, asked);
          }
        });
  });
}

void Collectives::sum(Verb verb, const Tensor& tensor, std::uint64_t number) {
  const Asked asked = ask(verb, tensor, static_cast<int>(Operation::sum), number);
  guarded([&] { sum_over_hosts(tensor, reduction_of(tensor, Operation::sum, ranks_.size()), asked); });
}

// Added up before the last level.
double Collectives::partial_ranks() const {
  double ranks = stage_.local_size();
  for (std::size_t i = 0; i + 1 < wires_.size(); ++i) ranks *= wires_[i]->size();
  return ranks;
}

void Collectives::sum_over_hosts(const Tensor& tensor, const Reduction& reduction, const Asked& asked) {
  if (wires_.empty() && stage_.is_small(tensor.bytes()))
    return stage_.all_reduce(tensor.data, tensor.count, reduction, asked.call);
  const std::optional<SharedRange> range = memory_.find(tensor);
  if (wires_.empty()) {
    if (range) return stage_.all_reduce(*range, reduction, asked.call);
    return stage_.all_reduce(tensor.data, tensor.count, reduction, asked.call);
  }
  const Slice slice = stage_.slice(tensor.count, tensor.type);
  std::byte* const mine = tensor.data + slice.begin * size_of(tensor.type);
  const Halves halves = halve(reduction, partial_ranks(), asked.wire.narrow);
  if (range) {
    stage_.meet_for_sums(*range, reduction, asked.call);
    Alongside host = sums_of_host(*range, halves.host);
    host.take = [&](std::size_t first, std::size_t count) {
      stage_.hand_out(*range, {slice.begin + first, count});
    };
    ddl::all_reduce(wires(), halves.wires, mine, slice.count, asked.wire, scratch_, host);
    return stage_.meet_with_sums(*range, asked.call);
  }
  stage_.reduce_scatter(tensor.data, tensor.count, halves.host, asked.call);
  ddl::all_reduce(wires(), halves.wires, mine, slice.count, asked.wire, scratch_);
  stage_.all_gather(tensor.data, tensor.count, tensor.type, asked.call);
}

// While a stretch of my slice is on the wires, the host's sum of the next one is made.
Alongside Collectives::sums_of_host(const SharedRange& range, const Reduction& here) {
  const std::size_t begin = stage_.slice(range.count, range.type).begin;
  return {[this, &range, here, begin](std::size_t first, std::size_t count) {
            stage_.sum_stretch(range, here, {begin + first, count});
          },
          {}};
}

// The large ones each for itself, the small ones of one type side by side.
void Collectives::all_reduce_n(std::span<const Tensor> tensors, Operation operation, std::uint64_t number) {
  std::vector<std::vector<Tensor>> small(5);  // by type
  for (const Tensor& tensor : tensors) check_tensor(tensor);
  for (const Tensor& tensor : tensors) {
    if (tensor.bytes() > most_together_bytes) {
      all_reduce(tensor, operation, number);
    } else {
      small[static_cast<std::size_t>(tensor.type)].push_back(tensor);
    }
  }
  for (const auto& alike : small) {
    for (std::size_t first = 0; first < alike.size();) {
      std::size_t last = first;
      for (std::size_t bytes = 0; last < alike.size() && bytes < together_bytes; ++last)
        bytes += alike[last].bytes();
      const Reduction reduction = reduction_of(alike[first], operation, ranks_.size());
      const Asked asked = ask(Verb::all_reduce_n, alike[first], static_cast<int>(last - first), number);
      sum_small_together(std::span(alike).subspan(first, last - first), reduction, asked);
      first = last;
    }
  }
}

void Collectives::sum_small_together(std::span<const Tensor> tensors, const Reduction& reduction,
                                     const Asked& asked) {
  Tensor all{nullptr, 0, tensors[0].type, fmt::format("{} tensors from {}", tensors.size(), tensors[0].name)};
  for (const Tensor& each : tensors) all.count += each.count;
  packed_.resize(all.bytes());
  all.data = packed_.data();
  std::byte* place = packed_.data();
  for (const Tensor& each : tensors) {
    std::copy_n(each.data, each.bytes(), place);
    place += each.bytes();
  }
  guarded([&] { sum_by(options_.mode, all, reduction, asked); });
  place = packed_.data();
  for (const Tensor& each : tensors) {
    std::copy_n(place, each.bytes(), each.data);
    place += each.bytes();
  }
}

void Collectives::all_reduce_update(const Tensor& tensor, Operation operation, std::uint64_t number,
                                    const Context::Update& update) {
  if (!update)
    throw Error(Fault::usage, "all_reduce_update without an update", tensor.name,
                "a function for the sums, or all_reduce");
  const Reduction reduction = reduction_of(tensor, operation, ranks_.size());
  const Asked asked = ask(Verb::all_reduce_update, tensor, static_cast<int>(operation), number);
  guarded([&] {
    watch_.run(
        tensor.bytes(), [&] { meet_whole(tensor, asked); },
        [&] {
          if (options_.mode == Mode::mpi) {
            update_plainly(tensor, reduction, asked, update);
          } else {
            update_once_a_host(tensor, reduction, asked, update);
          }
        });
  });
}

void Collectives::update_once_a_host(const Tensor& tensor, const Reduction& reduction, const Asked& asked,
                                     const Context::Update& update) {
  const std::optional<SharedRange> range = memory_.find(tensor);
  if (range && wires_.empty()) {
    return stage_.reduce_update(
        *range, reduction, asked.call,
        [&](const Slice& block, const std::byte* sums) { update(block.begin, block.count, sums); });
  }
  const Slice slice = stage_.slice(tensor.count, tensor.type);
  std::byte* const mine = tensor.data + slice.begin * size_of(tensor.type);
  WireOptions how = asked.wire;
  how.algorithm = algorithm_of(options_.mode);
  const Halves halves = halve(reduction, partial_ranks(), how.narrow);
  Alongside host;
  if (range) {
    stage_.meet_for_sums(*range, reduction, asked.call);
    host = sums_of_host(*range, halves.host);
  } else {
    stage_.reduce_scatter(tensor.data, tensor.count, wires_.empty() ? reduction : halves.host, asked.call);
  }
  host.take = [&](std::size_t first, std::size_t count) {
    update(slice.begin + first, count, mine + first * size_of(tensor.type));
  };
  if (wires_.empty())
    host.take(0, slice.count);
  else
    ddl::all_reduce(wires(), halves.wires, mine, slice.count, how, scratch_, host);
  meet_whole(tensor, asked);
}

// First the root's counterparts on the other hosts, then everyone on each host.
void Collectives::broadcast(const Tensor& tensor, int root, std::uint64_t number) {
  check_root(tensor, root, ranks_.size());
  const auto at = static_cast<std::size_t>(root);
  const Asked asked = ask(Verb::broadcast, tensor, root, number);
  guarded([&] {
    if (place_.local_rank == grid_.local_rank_of[at]) {
      WireOptions exact = asked.wire;
      exact.narrow.reset();
      ddl::broadcast(wires(), grid_.position_of(grid_.host_of[at]), {tensor.data, tensor.bytes()}, exact);
    }
    if (const auto range = memory_.find(tensor)) {
      stage_.broadcast(*range, grid_.local_rank_of[at], asked.call);
    } else {
      stage_.broadcast(tensor.data, tensor.count, tensor.type, grid_.local_rank_of[at], asked.call);
    }
  });
}

Wire& Collectives::flat_wire() {
  if (!flat_wire_) {
    flat_wire_ = ranks_.make_flat_wire(grid_, options_.timeout_seconds);
    flat_wire_->watch(stall_watch());
    flat_wire_->name_calls([this] { return name_call(); });
    flat_wire_->call_roll(roll_.get());
  }
  return *flat_wire_;
}

void Collectives::reduce_scatter(const Tensor& in, const Tensor& out, Operation operation,
                                 std::uint64_t number) {
  const auto size = static_cast<std::size_t>(ranks_.size());
  const auto rank = static_cast<std::size_t>(ranks_.rank());
  check_tensor(in);
  check_tensor(out);
  if (in.type != out.type || in.count % size != 0 || in.count / size != out.count) {
    throw Error(
        Fault::usage,
        fmt::format("reduce_scatter of {} {} into {} {}: {} ranks need {} to become {}", in.count,
                    name_of(in.type), out.count, name_of(out.type), size, out.count * size, out.count),
        in.name, "an input of the output's type with size() times its elements");
  }
  const Reduction reduction = reduction_of(in, operation, ranks_.size());
  const Asked asked = ask(Verb::reduce_scatter, in, static_cast<int>(operation), number);
  guarded([&] {
    if (wires_.empty()) {
      const std::shared_ptr<SharedBlock> block = exchange_block(in, asked);
      std::vector<const std::byte*> sources;
      for (int r = 0; r < stage_.local_size(); ++r)
        sources.push_back(block->part(r).data() + rank * out.bytes());
      std::copy_n(in.data, in.bytes(), block->part(stage_.local_rank()).data());
      meet_whole(in, asked);
      std::byte* const destination[] = {out.data};
      reduce(reduction, sources, destination, out.count);
      return meet_whole(in, asked);
    }
    packed_.assign(in.data, in.data + in.bytes());
    Wire* wire = &flat_wire();
    ddl::reduce_scatter({&wire, 1}, reduction, packed_.data(), in.count, asked.wire, scratch_);
    std::copy_n(packed_.data() + rank * out.bytes(), out.bytes(), out.data);
  });
}

// Shared memory for a tensor like this of each rank; all are known to ask for the same before it is made.
std::shared_ptr<SharedBlock> Collectives::exchange_block(const Tensor& tensor, const Asked& asked) {
  if (!exchange_ || exchange_->part(0).size() < tensor.bytes()) {
    meet_whole(tensor, asked);
    exchange_ = memory_.allocate(tensor.bytes());
  }
  return exchange_;
}

void Collectives::all_gather(const Tensor& in, const Tensor& out, std::uint64_t number) {
  const auto size = static_cast<std::size_t>(ranks_.size());
  check_tensor(in);
  check_tensor(out);
  if (in.type != out.type || out.count % size != 0 || out.count / size != in.count) {
    throw Error(Fault::usage,
                fmt::format("all_gather of {} {} into {} {}: {} ranks give {}", in.count, name_of(in.type),
                            out.count, name_of(out.type), size, in.count * size),
                in.name, "an output of the input's type with size() times its elements");
  }
  const Asked asked = ask(Verb::all_gather, in, 0, number);
  guarded([&] {
    if (wires_.empty()) {
      const std::shared_ptr<SharedBlock> block = exchange_block(in, asked);
      std::copy_n(in.data, in.bytes(), block->part(stage_.local_rank()).data());
      meet_whole(in, asked);
      for (int r = 0; r < stage_.local_size(); ++r)
        std::copy_n(block->part(r).data(), in.bytes(), out.data + static_cast<std::size_t>(r) * in.bytes());
      return meet_whole(in, asked);
    }
    std::copy_n(in.data, in.bytes(), out.data + static_cast<std::size_t>(ranks_.rank()) * in.bytes());
    WireOptions exact = asked.wire;
    exact.narrow.reset();
    Wire* wire = &flat_wire();
    ddl::all_gather({&wire, 1}, out.type, out.data, out.count, exact, scratch_);
  });
}

void Collectives::meet_to_allocate(std::uint64_t number) {
  const Tensor nothing;
  const Asked asked = ask(Verb::allocate, nothing, 0, number);
  guarded([&] { meet_whole(nothing, asked); });
}

// Who has passed the wires knows that each counterpart has passed its host's barrier.
void Collectives::barrier(std::uint64_t number) {
  const Tensor nothing;
  const Asked asked = ask(Verb::barrier, nothing, 0, number);
  guarded([&] {
    stage_.barrier(asked.call);
    ddl::barrier(wires(), asked.wire);
  });
}

}  // namespace ddl
