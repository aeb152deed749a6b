// SPDX-License-Identifier: MIT
// Refers to every function of libddl's C++ headers that a program has to find in libddl.so, and so does not
// link where the library does not export one.
#include "ddl/ddl.hpp"
#include "ddl/launcher.hpp"
#include "ddl/trials.hpp"

#include <cstdio>
#include <tuple>

namespace {

using ddl::ConstTensor;
using ddl::Context;
using ddl::Handle;
using ddl::Operation;
using ddl::RankMessages;
using ddl::Tensor;
using ddl::Trials;
using ddl::WorkQueue;

// A value that the compiler must not drop.
template <typename... Functions>
std::size_t refer(Functions... functions) {
  const volatile std::tuple<Functions...> kept{functions...};
  return sizeof kept;
}

}  // namespace

int main(int argc, char** argv) {
  Context context(argc, argv);
  const ddl::Buffer<float> shared = context.allocate<float>(2), own = context.allocate_for_host<float>(2);
  WorkQueue queue;
  Trials trials({{}, {}}, {});
  void (Context::*const broadcast)(const Tensor&, int) = &Context::broadcast;
  void (Context::*const all_reduce)(const Tensor&, Operation) = &Context::all_reduce;
  Handle (Context::*const start_all_reduce)(const Tensor&, Operation) = &Context::start_all_reduce;
  Handle (Context::*const start_broadcast)(const Tensor&, int) = &Context::start_broadcast;
  void (Context::*const reduce)(const Tensor&, Operation, int) = &Context::reduce;
  Handle (Context::*const start_reduce)(const Tensor&, Operation, int) = &Context::start_reduce;
  void (Context::*const gather)(const ConstTensor&, const Tensor&, int) = &Context::gather;
  void (Context::*const scatter)(const ConstTensor&, const Tensor&, int) = &Context::scatter;
  void (Context::*const all_gather)(const ConstTensor&, const Tensor&) = &Context::all_gather;
  void (Context::*const reduce_scatter)(const ConstTensor&, const Tensor&, Operation) =
      &Context::reduce_scatter;
  std::vector<std::string> (Context::*const gather_texts)(const std::string&) = &Context::gather;
  const std::size_t size =
      refer(broadcast, all_reduce, start_all_reduce, start_broadcast, reduce, start_reduce) +
      refer(&Context::rank, &Context::size, &Context::local_rank, &Context::local_size, &Context::host,
            &Context::hosts, &Context::dims, &Context::device, &Context::name_of, &Context::all_reduce_n,
            &Context::split, &Context::barrier, &Context::set_progress, &Context::all_reduce_update) +
      refer(gather, gather_texts, scatter, all_gather, reduce_scatter) +
      refer(&Context::start_all_reduce_update, &Context::start, &Context::open_messages, &Context::abort,
            &Context::verify_tensors) +
      refer(&Handle::wait, &Handle::done, &WorkQueue::start, &WorkQueue::start_finishing,
            &WorkQueue::run_or_start, &WorkQueue::drain, &WorkQueue::is_idle) +
      refer(&RankMessages::rank, &RankMessages::send, &RankMessages::receive, &RankMessages::test,
            &RankMessages::name_of, &RankMessages::own_name, &RankMessages::is_local,
            &RankMessages::has_exited, &RankMessages::state_of, &RankMessages::poll,
            &RankMessages::find_unresponsive, &RankMessages::report_failure) +
      refer(&Trials::turn_ends, &Trials::add, &Trials::medians, &Trials::decide, &Trials::keep) +
      refer(&ddl::parse_options, &ddl::launched_rank, &ddl::launched_size);
  Context moved(std::move(context));
  context = std::move(moved);
  try {
    const Context unstarted(ddl::MpiComm{});
  } catch (const ddl::Error&) {  // MPI has not started, or this is no handle of it
  }
  if (context.size() == 1) context.open_messages().reset();
  try {
    context.broadcast(shared, 7);
  } catch (const ddl::Error& error) {  // thrown in the library, caught here
    std::printf("rank %d of %d: %zu, %s\n", context.rank(), context.size(), size + own.size(),
                error.hint().c_str());
  }
}
