// SPDX-License-Identifier: MIT
#include "runtime/training/weights.hpp"

#include "runtime/core/hash.hpp"
#include "runtime/core/parallel.hpp"
#include "runtime/training/finite.hpp"

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t learn_floats = 4096;      // with its weights and state it stays in the caches
static_assert(chunk_unit % learn_floats == 0);  // threads skip the same chunks as one thread
constexpr std::size_t share_floats = std::size_t{1} << 18U;

}  // namespace

Weights::Weights(const Net& net, const Optimizer& optimizer, Communicator& ranks, bool host_shared)
    : net_(net),
      optimizer_(optimizer),
      ranks_(ranks),
      host_shared_(host_shared),
      groups_(plan_param_groups(net, optimizer)) {
  const std::size_t states = state_names(optimizer).size();
  own_.reserve(1 + states);
  state_.parameters = make(net.parameter_count);
  for (std::size_t i = 0; i < states; ++i) state_.state.push_back(make(net.parameter_count));
}

std::span<float> Weights::make(std::size_t count) {
  if (host_shared_) return ranks_.allocate_host_shared(count);
  return own_.emplace_back(count, 0.0F);
}

void Weights::start(std::uint64_t seed, const TrainState* start) {
  if (ranks_.rank() == 0) {
    const std::vector<float> first = start == nullptr ? initial_parameters(net_, seed) : std::vector<float>{};
    const std::vector<float>& values = start == nullptr ? first : start->parameters;
    std::copy(values.begin(), values.end(), parameters().begin());
    for (std::size_t i = 0; start != nullptr && i < state_.state.size(); ++i) {
      const std::vector<float>& state = start->optimizer_state.at(i);
      std::copy(state.begin(), state.end(), state_.state[i].begin());
    }
  }
  share(parameters());
  for (std::size_t i = 0; start != nullptr && i < state_.state.size(); ++i) share(state_.state[i]);
}

// One copy a host: through a vector of each rank's own, and one rank of the host writes.
void Weights::share(std::span<float> values) const {
  if (!host_shared_) return ranks_.broadcast(values);
  std::vector<float> piece(std::min(values.size(), share_floats));
  for (std::size_t done = 0; done < values.size(); done += piece.size()) {
    const std::span<float> place = values.subspan(done, std::min(piece.size(), values.size() - done));
    const std::span<float> travelling = std::span(piece).first(place.size());
    if (ranks_.rank() == 0) std::copy(place.begin(), place.end(), travelling.begin());
    ranks_.broadcast(travelling);
    if (ranks_.rank() != 0 && ranks_.local_rank() == 0)
      std::copy(travelling.begin(), travelling.end(), place.begin());
  }
  ranks_.gather_all("");  // barrier: no rank reads before all have written
}

std::vector<std::span<const float>> Weights::optimizer_state() const {
  return {state_.state.begin(), state_.state.end()};
}

bool Weights::apply(std::size_t begin, std::span<const float> sums, const StepHyperparams& rates) const {
  bool finite = true;
  for (std::size_t done = 0; done < sums.size(); done += learn_floats) {
    const std::span<const float> piece = sums.subspan(done, std::min(learn_floats, sums.size() - done));
    const std::size_t first = begin + done;
    if (all_finite(piece)) {
      update_range(optimizer_, groups_, rates, {first, first + piece.size()}, piece, state_);
    } else {
      finite = false;
    }
  }
  return finite;
}

bool Weights::apply_all(std::span<const float> sums, const StepHyperparams& rates) const {
  if (!all_finite(sums)) return false;
  StepHyperparams scaled = rates;
  scaled.gradient_scale = clip_scale(optimizer_, sums);
  update_range(optimizer_, groups_, scaled, {0, sums.size()}, sums, state_);
  return true;
}

bool Weights::finite() const {
  return all_finite(parameters()) &&
         std::all_of(state_.state.begin(), state_.state.end(),
                     [](std::span<const float> state) { return all_finite(state); });
}

std::uint64_t Weights::hash() const { return hash_bytes(std::as_bytes(parameters())); }

}  // namespace ddlrun::runtime
