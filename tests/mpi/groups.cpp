// SPDX-License-Identifier: MIT
// groups WHAT: a grid of two rows of ranks, each rank in the group of its row and in that of its column.
// WHAT is sums: all calls in both, in groups of groups and after the end of the first Context, against closed
// forms. Else what rank 1 does before it sums in its row, while the last rank waits in its column for a rank
// that waits for rank 1: odd (it calls something else in its row), cross (it sums over all ranks), stop,
// kill, exit, throw (an exception of its own). Each rank prints its error, and after how many seconds it
// came.
#include "ddl/ddl.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using ddl::Context;
using ddl::Operation;
using SteadyClock = std::chrono::steady_clock;

void require(bool right, const Context& ddl, const char* what) {
  if (right) return;
  std::fprintf(stderr, "rank %d: wrong: %s\n", ddl.rank(), what);
  std::exit(3);
}

// The sum of the members' numbers, over vectors and over shared memory, of any size.
void check_sums(Context& group, std::int64_t number, std::int64_t sum) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{4099}, std::size_t{300'000}}) {
    std::vector<std::int64_t> values(count, number);
    group.all_reduce(values, Operation::sum);
    require(values.front() == sum && values.back() == sum, group, "all_reduce");
    const ddl::Buffer<double> shared = group.allocate<double>(count);
    for (double& each : shared) each = static_cast<double>(number);
    ddl::Handle started = group.start_all_reduce(shared, Operation::sum);
    started.wait();
    require(shared[count - 1] == static_cast<double>(sum), group, "start_all_reduce in shared memory");
  }
}

void check_calls(Context& group, const std::vector<int>& members) {
  std::int64_t sum = 0;
  for (const int member : members) sum += member + 1;
  const int me = members[static_cast<std::size_t>(group.rank())];
  require(group.size() == static_cast<int>(members.size()), group, "the size");
  check_sums(group, me + 1, sum);
  std::vector<int> all(members.size());
  group.all_gather(me, all);
  require(all == members, group, "all_gather");
  int mine = -1;
  group.scatter(members, mine, group.size() - 1);
  require(mine == me, group, "scatter");
  std::vector<int> collected(members.size());
  group.gather(me, collected, 0);
  require(group.rank() != 0 || collected == members, group, "gather");
  int from = me;
  group.broadcast(from, group.size() - 1);
  require(from == members.back(), group, "broadcast");
  double reduced = me + 1;
  group.reduce(reduced, Operation::sum, 0);
  require(group.rank() != 0 || reduced == static_cast<double>(sum), group, "reduce");
  float part = 0;
  group.reduce_scatter(std::vector<float>(members.size(), 2.0F), part, Operation::sum);
  require(part == 2.0F * static_cast<float>(members.size()), group, "reduce_scatter");
  group.barrier();
  for (int r = 0; r < group.size(); ++r)
    require(
        group.name_of(r).starts_with("rank " + std::to_string(members[static_cast<std::size_t>(r)]) + " ("),
        group, "a name");
}

int columns_of(const Context& ddl) { return (ddl.size() + 1) / 2; }

void check_all(std::optional<Context>& ddl) {
  const int rank = ddl->rank();
  const int size = ddl->size();
  const int columns = columns_of(*ddl);
  std::optional<Context> row = ddl->split(rank / columns, 0, "row");
  std::optional<Context> column = ddl->split(rank % columns, -rank, "column");
  std::vector<int> in_row;
  std::vector<int> in_column;
  std::vector<int> everyone;
  for (int other = 0; other < size; ++other) {
    everyone.push_back(other);
    if (other / columns == rank / columns) in_row.push_back(other);
    if (other % columns == rank % columns) in_column.insert(in_column.begin(), other);
  }
  for (int i = 0; i < 3; ++i) {
    check_calls(*row, in_row);
    check_calls(*column, in_column);
    check_calls(*ddl, everyone);
  }
  for (int i = 0; i < 20; ++i) {  // groups come and go
    std::optional<Context> some = ddl->split(rank == i % size ? std::nullopt : std::optional(i));
    require(some.has_value() == (rank != i % size), *ddl, "a rank without a color");
    if (some) check_sums(*some, 1, size - 1);
  }
  std::optional<Context> part = row->split(row->rank() % 2);
  std::vector<int> in_part;
  for (std::size_t i = static_cast<std::size_t>(row->rank()) % 2; i < in_row.size(); i += 2)
    in_part.push_back(in_row[i]);
  row.reset();
  check_calls(*part, in_part);
  ddl.reset();
  check_calls(*column, in_column);
  check_calls(*part, in_part);
}

void make_odd_calls(Context& ddl, const std::string& what) {
  const int columns = columns_of(ddl);
  std::optional<Context> row = ddl.split(ddl.rank() / columns, 0, "row");
  std::optional<Context> column = ddl.split(ddl.rank() % columns, 0, "column");
  std::vector<float> values(1000, 1.0F);
  const ddl::Tensor w = ddl::tensor(values, "w");
  row->all_reduce(w, Operation::sum);
  column->all_reduce(w, Operation::sum);
  if (ddl.rank() == 1) {
    if (what == "odd") row->all_reduce(w, Operation::max);
    if (what == "cross") ddl.all_reduce(w, Operation::sum);
    if (what == "stop") std::raise(SIGSTOP);
    if (what == "kill") std::raise(SIGKILL);
    if (what == "exit") std::exit(0);
    if (what == "throw") throw std::runtime_error("cannot open part-1.bin");
  }
  // The second row has its sum, and waits in the columns.
  row->all_reduce(w, Operation::sum);
  column->all_reduce(w, Operation::sum);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string what = argv[1];
  SteadyClock::time_point start;
  try {
    ddl::Options options;
    options.timeout_seconds = what == "sums" ? 30 : 3;
    std::optional<Context> ddl(std::in_place, argc, argv, options);
    start = SteadyClock::now();
    const bool is_first = ddl->rank() == 0;
    if (what == "sums") {
      check_all(ddl);
      if (is_first) std::printf("all sums of groups are right\n");
      return 0;
    }
    make_odd_calls(*ddl, what);
    std::fprintf(stderr, "nothing was reported\n");
    return 4;
  } catch (const ddl::Error& error) {
    const std::chrono::duration<double> waited = SteadyClock::now() - start;
    std::fprintf(stderr, "reported after %.0f s: %s\n  at:  %s\n  try: %s\n", waited.count(), error.what(),
                 error.where().c_str(), error.hint().c_str());
    std::this_thread::sleep_for(std::chrono::seconds(2));  // mpirun ends the others when the first one ends
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "says itself: %s\n", error.what());
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return 1;
  }
}
