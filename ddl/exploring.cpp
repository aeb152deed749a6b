// SPDX-License-Identifier: MIT
// Collectives' ways of one sum: the one that the mode names, or in turn all of them, until the fastest is
// known.
#include "ddl/clock.hpp"
#include "ddl/collectives.hpp"

#include <optional>
#include <span>
#include <string>

namespace ddl {

WireAlgorithm Collectives::algorithm_of(Mode mode) {
  return mode == Mode::ring ? WireAlgorithm::ring : WireAlgorithm::best;
}

void Collectives::sum_by(Mode mode, const Tensor& tensor, const Reduction& reduction, const Asked& asked) {
  if (mode == Mode::mpi) return sum_plainly(tensor, reduction, asked);
  Asked how = asked;
  how.wire.algorithm = algorithm_of(mode);
  sum_over_hosts(tensor, reduction, how);
}

// The library's own way, for comparison; what it cannot add goes ours.
void Collectives::sum_plainly(const Tensor& tensor, const Reduction& reduction, const Asked& asked) {
  plain_.resize(tensor.bytes());
  if (!ranks_.plain_all_reduce(tensor.data, plain_.data(), tensor.count, tensor.type, reduction.operation))
    return sum_over_hosts(tensor, reduction, asked);
  const std::byte* const source[] = {plain_.data()};
  std::byte* const out[] = {tensor.data};
  reduce(reduction, source, out, tensor.count);
}

// Nobody has the sums before all ranks have come, so their slices may be updated at once.
void Collectives::update_plainly(const Tensor& tensor, const Reduction& reduction, const Asked& asked,
                                 const Context::Update& update) {
  sum_plainly(tensor, reduction, asked);
  const Slice slice = stage_.slice(tensor.count, tensor.type);
  update(slice.begin, slice.count, tensor.data + slice.begin * size_of(tensor.type));
  meet_whole(tensor, asked);
}

// Rank 0 reads, all know: in that text the topology is no matter any more.
void Collectives::recall_ways() {
  std::string mine;
  if (ranks_.rank() == 0) {
    if (const auto known = cache_.read()) mine = render_ways("", *known);
  }
  if (const auto known = parse_ways(ranks_.gather(mine).front(), "")) explorer_.recall(*known);
}

void Collectives::explore(const Tensor& tensor, const Reduction& reduction, const Asked& asked) {
  const double start = steady_seconds();
  sum_by(explorer_.next(tensor.bytes()), tensor, reduction, asked);
  const auto tried = explorer_.add(tensor.bytes(), steady_seconds() - start);
  if (!tried) return;
  Explorer::Seconds slowest = *tried;
  const Tensor times = ddl::tensor(std::span<double>(slowest), "the times of the ways");
  sum_over_hosts(times, {DataType::float64, Operation::max, 1.0}, asked);
  explorer_.settle(tensor.bytes(), slowest);
  cache_.keep(explorer_.chosen());
}

}  // namespace ddl
