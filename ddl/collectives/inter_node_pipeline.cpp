// SPDX-License-Identifier: MIT
#include "ddl/collectives/inter_node_pipeline.hpp"

#include "ddl/collectives/inter_node_halving.hpp"
#include "ddl/collectives/inter_node_sizes.hpp"
#include "ddl/core/rounding.hpp"

#include <algorithm>

namespace ddl {
namespace {

constexpr std::size_t pipeline_lag = 8;  // chunks that are under way in each stage
constexpr std::size_t messages_of_halved_chunk = 8;

struct ChunkStage {
  std::size_t level = 0;
  bool gathers = false;
  int step = 0;  // of a ring or of halving
};

using LevelAlgorithms = std::vector<InterNodeAlgorithm>;  // direct, ring or halving, by level

std::vector<ChunkStage> plan_stages(PeerComms comms, const LevelAlgorithms& algorithms) {
  std::vector<ChunkStage> stages;
  const auto add = [&](std::size_t level, bool gathers) {
    const int ranks = comms[level]->size();
    const InterNodeAlgorithm algorithm = algorithms[level];
    const int steps = algorithm == InterNodeAlgorithm::ring      ? ranks - 1
                      : algorithm == InterNodeAlgorithm::halving ? halving_steps(ranks)
                                                                 : 1;
    for (int step = 0; step < steps; ++step) stages.push_back({level, gathers, step});
  };
  for (std::size_t level = 0; level < comms.size(); ++level) add(level, false);
  for (std::size_t level = comms.size(); level-- > 0;) add(level, true);
  return stages;
}

std::size_t whole_lines(std::size_t bytes) { return round_up(bytes, line_bytes); }

// How the vector is cut, and what a chunk needs besides it.
struct ChunkPlan {
  std::size_t chunk = 0;  // elements
  std::size_t chunks = 0;
  std::size_t inbox_bytes = 0;
  std::size_t wire_buffer_bytes = 0;
  LevelAlgorithms algorithms;
};

InterNodeAlgorithm algorithm_of_level(InterNodeAlgorithm wanted, int ranks, std::size_t piece_bytes,
                                      std::size_t chunks) {
  if (wanted != InterNodeAlgorithm::best) return wanted;
  return is_halved(ranks, piece_bytes, chunks) ? InterNodeAlgorithm::halving : InterNodeAlgorithm::direct;
}

ChunkPlan plan_chunks(PeerComms comms, std::size_t count, DataType type, const InterNodeOptions& options) {
  const std::size_t size = size_of(wire_dtype_of(type, options));
  const auto ranks = static_cast<std::size_t>(comms.front()->size());
  const bool halving = options.algorithm == InterNodeAlgorithm::halving;
  const bool ring = options.algorithm == InterNodeAlgorithm::ring;
  const std::size_t messages = halving ? std::min(ranks, messages_of_halved_chunk) : ranks;
  const std::size_t fitting = count * size / (messages * chunks_aimed_at);
  std::vector<int> levels;
  for (const PeerComm* comm : comms) levels.push_back(comm->size());
  const std::size_t least =
      halving || ring ? smallest_message : smallest_message * messages_of_chunk(levels) / ranks;
  const std::size_t longest = std::max(options.message_bytes, line_bytes);
  const std::size_t message = std::clamp(fitting, std::min(least, longest), longest);
  ChunkPlan plan;
  plan.chunk = whole_lines(message * messages) / size;
  plan.chunks = (count + plan.chunk - 1) / plan.chunk;
  std::size_t most = plan.chunk;
  std::size_t piece_bytes = std::min(count, plan.chunk) * size;
  for (const PeerComm* comm : comms) {
    const auto n = static_cast<std::size_t>(comm->size());
    most = (most + n - 1) / n;
    piece_bytes /= n;
    plan.algorithms.push_back(algorithm_of_level(options.algorithm, comm->size(), piece_bytes, plan.chunks));
    const InterNodeAlgorithm algorithm = plan.algorithms.back();
    const std::size_t pieces = algorithm == InterNodeAlgorithm::ring      ? 1
                               : algorithm == InterNodeAlgorithm::halving ? n / 2
                                                                          : n - 1;
    plan.inbox_bytes = std::max(plan.inbox_bytes, whole_lines(pieces * most * size));
  }
  plan.wire_buffer_bytes = size == size_of(type) ? 0 : whole_lines(plan.chunk * size);
  return plan;
}

class ChunkSum {
 public:
  ChunkSum() = default;
  ChunkSum(PeerComms comms, const LevelAlgorithms& algorithms, std::size_t message_bytes, const Codec& codec,
           Range chunk, std::byte* inbox)
      : comms_(comms),
        algorithms_(&algorithms),
        message_bytes_(message_bytes),
        freight_(codec),
        chunk_(chunk),
        inbox_(inbox) {
    for (const PeerComm* comm : comms) {
      levels_.push_back(pieces_of(chunk, comm->size()));
      chunk = levels_.back()[static_cast<std::size_t>(comm->rank())];
    }
  }

  void post(const ChunkStage& stage) {
    PeerComm& comm = *comms_[stage.level];
    const Pieces& pieces = levels_[stage.level];
    if (!stage.gathers) return post_scatter(stage, comm, pieces);
    if (stage.level + 1 == comms_.size() && stage.step == 0) {
      freight_.compress(pieces[static_cast<std::size_t>(comm.rank())]);  // the result is narrowed here, once
    }
    switch (algorithm_of(stage)) {
      case InterNodeAlgorithm::ring:
        return post_ring_gather(comm, freight_, pieces, stage.step, pending_);
      case InterNodeAlgorithm::halving:
        return post_halving_gather(comm, freight_, pieces, stage.step, message_bytes_, pending_);
      default:
        return post_direct_gather(comm, freight_, pieces, pending_);
    }
  }

  void finish(const ChunkStage& stage) {
    PeerComm& comm = *comms_[stage.level];
    const Pieces& pieces = levels_[stage.level];
    const bool last_level = stage.level + 1 == comms_.size();
    if (stage.gathers) return pending_.finish(comm);
    switch (algorithm_of(stage)) {
      case InterNodeAlgorithm::ring:
        return finish_ring_scatter(comm, freight_, pieces, stage.step, inbox_, last_level, pending_);
      case InterNodeAlgorithm::halving:
        return finish_halving_scatter(comm, freight_, pieces, stage.step, inbox_, last_level, pending_);
      default:
        return finish_direct_scatter(comm, freight_, pieces, inbox_, last_level, pending_);
    }
  }

  void end() { freight_.decompress(chunk_); }
  const Range& range() const { return chunk_; }

 private:
  InterNodeAlgorithm algorithm_of(const ChunkStage& stage) const { return (*algorithms_)[stage.level]; }

  void post_scatter(const ChunkStage& stage, PeerComm& comm, const Pieces& pieces) {
    switch (algorithm_of(stage)) {
      case InterNodeAlgorithm::ring:
        return post_ring_scatter(comm, freight_, pieces, stage.step, inbox_, pending_);
      case InterNodeAlgorithm::halving:
        return post_halving_scatter(comm, freight_, pieces, stage.step, message_bytes_, inbox_, pending_);
      default:
        return post_direct_scatter(comm, freight_, pieces, inbox_, pending_);
    }
  }

  PeerComms comms_;
  const LevelAlgorithms* algorithms_ = nullptr;
  std::size_t message_bytes_ = 0;
  Codec freight_;
  Range chunk_;
  std::byte* inbox_ = nullptr;
  std::vector<Pieces> levels_;
  PendingMessages pending_;
};

}  // namespace

void all_reduce_in_chunks(PeerComms comms, const Reduction& reduction, std::byte* data, std::size_t count,
                          const InterNodeOptions& options, Scratch& scratch, const PipelineHooks& hooks) {
  const ChunkPlan plan = plan_chunks(comms, count, reduction.type, options);
  const std::vector<ChunkStage> stages = plan_stages(comms, plan.algorithms);
  const std::size_t slots = std::min(plan.chunks, stages.size() * pipeline_lag + 1);
  const std::size_t slot_bytes = plan.inbox_bytes + plan.wire_buffer_bytes;
  if (scratch.size() < slots * slot_bytes) scratch.resize(slots * slot_bytes);
  const DataType wire_dtype = wire_dtype_of(reduction.type, options);
  std::vector<ChunkSum> sums(slots);

  // At each tick one chunk enters, and every chunk that has had `pipeline_lag` ticks for its stage goes on to
  // the next.
  for (std::size_t tick = 0; tick < plan.chunks + stages.size() * pipeline_lag; ++tick) {
    if (tick < plan.chunks) {
      const Range chunk{tick * plan.chunk, std::min(plan.chunk, count - tick * plan.chunk)};
      if (hooks.produce) hooks.produce(chunk.first, chunk.count);
      std::byte* const inbox = scratch.data() + tick % slots * slot_bytes;
      const Codec codec(reduction, wire_dtype, data, chunk, inbox + plan.inbox_bytes);
      sums[tick % slots] = ChunkSum(comms, plan.algorithms, options.message_bytes, codec, chunk, inbox);
      sums[tick % slots].post(stages[0]);
    }
    for (std::size_t s = 0; s < stages.size() && (s + 1) * pipeline_lag <= tick; ++s) {
      const std::size_t chunk = tick - (s + 1) * pipeline_lag;
      if (chunk >= plan.chunks) continue;
      ChunkSum& sum = sums[chunk % slots];
      sum.finish(stages[s]);
      if (s + 1 < stages.size()) {
        sum.post(stages[s + 1]);
        continue;
      }
      sum.end();
      if (hooks.consume) hooks.consume(sum.range().first, sum.range().count);
    }
  }
}

}  // namespace ddl
