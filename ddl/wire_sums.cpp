// SPDX-License-Identifier: MIT
#include "ddl/wire_sums.hpp"

#include "ddl/error.hpp"
#include "ddl/wire_broadcast.hpp"
#include "ddl/wire_exchange.hpp"
#include "ddl/wire_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ddl {
namespace {

constexpr int most_ranks_of_wire = 1024;  // what reduce() adds at once
constexpr int most_direct_peers = 7;      // gathered: beyond, doubling takes fewer messages
constexpr std::size_t column_lag = 4;     // messages under way to each rank while others are added

void check_call(Wires wires, const WireOptions& options) {
  for (Wire* wire : wires) {
    if (wire->size() > most_ranks_of_wire) {
      throw Error(
          Fault::unsupported,
          fmt::format("{} hosts on one level, at most {} can be added", wire->size(), most_ranks_of_wire),
          "dims", "give dims with more levels, as in 8x32x64: ranks per host x hosts per rack x racks");
    }
    wire->stamp(options.signature);
  }
  if (options.narrow && *options.narrow != DataType::bfloat16 && *options.narrow != DataType::float16) {
    throw Error(Fault::usage, fmt::format("{} does not narrow anything", name_of(*options.narrow)),
                "wire type", "bfloat16 or float16");
  }
}

std::vector<Wire*> wires_in_use(Wires wires) {
  std::vector<Wire*> used;
  std::copy_if(wires.begin(), wires.end(), std::back_inserter(used),
               [](const Wire* wire) { return wire->size() > 1; });
  return used;
}

std::size_t gathered_bytes(Wires wires, std::size_t bytes) {
  std::size_t peers = 0;
  for (const Wire* wire : wires) peers += static_cast<std::size_t>(wire->size() - 1);
  return peers * bytes;
}

// Everybody's `bytes` in blocks: first mine, then my right neighbour's and so on around the circle.
void gather_blocks(Wire& wire, std::byte* blocks, std::size_t bytes) {
  const int n = wire.size();
  const auto right = [&](int distance) { return (wire.rank() + distance) % n; };
  const auto block = [&](int index) { return blocks + static_cast<std::size_t>(index) * bytes; };
  Underway underway;
  if (n - 1 <= most_direct_peers) {
    for (int k = 1; k < n; ++k) underway.receive(wire, right(k), {block(k), bytes});
    for (int k = 1; k < n; ++k) underway.send(wire, right(n - k), {block(0), bytes});
    return underway.finish(wire);
  }
  for (int have = 1; have < n; have *= 2) {  // Bruck's way: what I have doubles in each step
    const std::size_t size = static_cast<std::size_t>(std::min(have, n - have)) * bytes;
    underway.receive(wire, right(have), {block(have), size});
    underway.send(wire, right(n - have), {block(0), size});
    underway.finish(wire);
  }
}

void all_reduce_gathered(Wires wires, const Reduction& reduction, std::byte* data, std::size_t count,
                         Scratch& scratch) {
  const std::size_t bytes = count * size_of(reduction.type);
  for (std::size_t level = 0; level < wires.size(); ++level) {
    Wire& wire = *wires[level];
    const auto ranks = static_cast<std::size_t>(wire.size());
    if (scratch.size() < ranks * bytes) scratch.resize(ranks * bytes);
    std::copy_n(data, bytes, scratch.data());
    gather_blocks(wire, scratch.data(), bytes);
    std::vector<const std::byte*> contributions;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t block = (rank + ranks - static_cast<std::size_t>(wire.rank())) % ranks;
      contributions.push_back(block == 0 ? nullptr : scratch.data() + block * bytes);
    }
    const Freight freight(reduction, reduction.type, data, {0, count}, nullptr);
    freight.add({0, count}, contributions, level + 1 == wires.size());
  }
}

// Pieces cut into columns: the i-th message of every piece.
class MessageColumns {
 public:
  MessageColumns(Wire& wire, Range whole, std::size_t message_bytes, std::size_t size)
      : pieces_(pieces_of(whole, wire.size())), each_(std::max<std::size_t>(message_bytes / size, 1)) {}

  std::size_t count() const { return std::max<std::size_t>((pieces_.front().count + each_ - 1) / each_, 1); }
  std::size_t longest() const { return std::min(each_, pieces_.front().count); }
  Pieces column(std::size_t i) const {
    Pieces parts;
    for (const Range piece : pieces_) {
      const std::size_t from = std::min(i * each_, piece.count);
      parts.push_back({piece.first + from, std::min(each_, piece.count - from)});
    }
    return parts;
  }

 private:
  Pieces pieces_;
  std::size_t each_;
};

// A level of reduce_scatter: my piece of `whole`, in messages that are added while the next are under way.
void scatter_level(Wire& wire, const Reduction& reduction, std::byte* data, Range whole, bool last_level,
                   const WireOptions& options, Scratch& scratch) {
  const DataType travelling = travelling_type(reduction.type, options);
  const std::size_t size = size_of(travelling);
  const MessageColumns columns(wire, whole, options.message_bytes, size);
  const std::size_t inbox = static_cast<std::size_t>(wire.size() - 1) * columns.longest() * size;
  const std::size_t image = travelling == reduction.type ? 0 : whole.count * size;
  const std::size_t slots = std::min(columns.count(), column_lag + 1);
  if (scratch.size() < slots * inbox + image) scratch.resize(slots * inbox + image);
  const Freight freight(reduction, travelling, data, whole, scratch.data() + slots * inbox);

  std::vector<Underway> underway(slots);
  for (std::size_t i = 0; i < columns.count() + column_lag; ++i) {
    const std::size_t slot = i % slots;
    if (i < columns.count()) {
      post_direct_scatter(wire, freight, columns.column(i), scratch.data() + slot * inbox, underway[slot]);
    }
    if (i < column_lag || i - column_lag >= columns.count()) continue;
    const std::size_t done = i - column_lag;
    finish_direct_scatter(wire, freight, columns.column(done), scratch.data() + done % slots * inbox,
                          last_level, underway[done % slots]);
  }
}

void gather_level(Wire& wire, const Freight& freight, Range whole, std::size_t size,
                  const WireOptions& options) {
  const MessageColumns columns(wire, whole, options.message_bytes, size);
  std::vector<Underway> underway(std::min(columns.count(), column_lag));
  for (std::size_t i = 0; i < columns.count(); ++i) {
    Underway& slot = underway[i % underway.size()];
    slot.finish(wire);
    post_direct_gather(wire, freight, columns.column(i), slot);
  }
  for (std::size_t i = 0; i < underway.size(); ++i)
    underway[(columns.count() + i) % underway.size()].finish(wire);
}

// whole[l] is what is divided on level l; the last one is what I own.
std::vector<Range> owned_by_level(Wires wires, std::size_t count) {
  std::vector<Range> owned{{0, count}};
  for (const Wire* wire : wires) owned.push_back(piece_of(owned.back(), wire->size(), wire->rank()));
  return owned;
}

void scale_alone(const Reduction& reduction, std::byte* data, std::size_t count) {
  const std::byte* const source = data;
  if (count > 0 && reduction.scale != 1.0) reduce(reduction, {&source, 1}, {&data, 1}, count);
}

}  // namespace

void all_reduce(Wires all_wires, const Reduction& reduction, std::byte* data, std::size_t count,
                const WireOptions& options, Scratch& scratch, const Alongside& alongside) {
  check_call(all_wires, options);
  const std::vector<Wire*> wires = wires_in_use(all_wires);
  const bool is_small = gathered_bytes(wires, count * size_of(reduction.type)) <= options.gathered_bytes;
  const bool at_once = wires.empty() || count == 0 || options.algorithm == WireAlgorithm::gathered ||
                       (options.algorithm == WireAlgorithm::best && is_small);
  if (!at_once) return all_reduce_in_chunks(wires, reduction, data, count, options, scratch, alongside);
  if (alongside.fill) alongside.fill(0, count);
  if (wires.empty())
    scale_alone(reduction, data, count);
  else
    all_reduce_gathered(wires, reduction, data, count, scratch);
  if (alongside.take) alongside.take(0, count);
}

OwnedRange owned_range(Wires wires, std::size_t count) {
  const Range owned = owned_by_level(wires, count).back();
  return {owned.first, owned.count};
}

void reduce_scatter(Wires all_wires, const Reduction& reduction, std::byte* data, std::size_t count,
                    const WireOptions& options, Scratch& scratch) {
  check_call(all_wires, options);
  const std::vector<Wire*> wires = wires_in_use(all_wires);
  if (wires.empty()) return scale_alone(reduction, data, count);
  const std::vector<Range> owned = owned_by_level(wires, count);
  for (std::size_t level = 0; level < wires.size(); ++level) {
    scatter_level(*wires[level], reduction, data, owned[level], level + 1 == wires.size(), options, scratch);
  }
}

void all_gather(Wires all_wires, DataType type, std::byte* data, std::size_t count,
                const WireOptions& options, Scratch& scratch) {
  check_call(all_wires, options);
  const std::vector<Wire*> wires = wires_in_use(all_wires);
  if (wires.empty()) return;
  const std::vector<Range> owned = owned_by_level(wires, count);
  const DataType travelling = travelling_type(type, options);
  const std::size_t image = travelling == type ? 0 : count * size_of(travelling);
  if (scratch.size() < image) scratch.resize(image);
  const Freight freight({.type = type}, travelling, data, {0, count}, scratch.data());
  freight.pack(owned.back());
  for (std::size_t level = wires.size(); level-- > 0;) {
    gather_level(*wires[level], freight, owned[level], size_of(travelling), options);
  }
  freight.unpack({0, count});
}

void broadcast(Wires wires, std::span<const int> root, std::span<std::byte> data,
               const WireOptions& options) {
  check_call(wires, options);
  if (root.size() != wires.size()) {
    throw Error(Fault::usage, fmt::format("a root on {} levels for {} wires", root.size(), wires.size()),
                "broadcast", "take the root from Grid::position_of");
  }
  broadcast_on_trees(wires, root, data, options);
}

void barrier(Wires wires, const WireOptions& options) {
  check_call(wires, options);
  for (Wire* wire : wires) {
    for (int distance = 1; distance < wire->size(); distance *= 2) {
      Underway underway;
      underway.receive(*wire, (wire->rank() + wire->size() - distance) % wire->size(), {});
      underway.send(*wire, (wire->rank() + distance) % wire->size(), {});
      underway.finish(*wire);
    }
  }
}

}  // namespace ddl
