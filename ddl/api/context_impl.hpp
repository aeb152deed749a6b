// SPDX-License-Identifier: MIT
// A Context inside: its transport, its collectives, and the order and the first error of its calls, which it
// shares with its family.
//
// A family is a first Context and all groups that split() made of it or of its groups. Its calls run one
// after the other, for a rank is in one at a time: on the program's thread or on the one communication thread
// of the family. An error of one is the error of all, because ranks that wait in one group may wait for a
// rank of another. The transport of the first Context ends with the last of the family.
#pragma once

#include "ddl/api/context_factory.hpp"
#include "ddl/api/live_context.hpp"
#include "ddl/collectives/collectives.hpp"
#include "ddl/core/gather_strings.hpp"
#include "ddl/core/rank_group.hpp"
#include "ddl/ddl.hpp"
#include "ddl/gpu/gpu_collectives.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

struct Context::Impl {
  struct Family {
    explicit Family(std::unique_ptr<Transport> first)
        : transport(std::move(first)), queue(choose_queue(*transport)) {}

    std::unique_ptr<Transport> transport;
    CallFamily calls;
    std::vector<Impl*> members;
    std::mutex mutex;
    std::optional<Error> broken;
    std::atomic<int> calls_under_way = 0;
    std::shared_ptr<WorkQueue> queue;  // ends before what its items use, or is shared with other families
  };

  // All families of a process whose MPI takes one thread at a time have one queue.
  static std::shared_ptr<WorkQueue> choose_queue(const Transport& transport);

  // The first Context, of all ranks of the family's transport; or the group `which`, with a transport of its
  // own. Collective over its ranks.
  Impl(std::shared_ptr<Family> given, const Options& chosen, std::unique_ptr<Transport> own = nullptr,
       RankGroup which = {});
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // What fails on this rank alone must not wait for the others before the program has the error.
  struct Start {
    Transport& transport;
    bool is_complete = false;
    explicit Start(Transport& given) : transport(given) {}
    ~Start() {
      if (!is_complete) transport.abandon();
    }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;
  };

  struct CallCount {
    std::atomic<int>& calls;
    explicit CallCount(std::atomic<int>& counter) : calls(counter) { ++calls; }
    ~CallCount() { --calls; }
    CallCount(const CallCount&) = delete;
    CallCount& operator=(const CallCount&) = delete;
  };

  // Each call has a number. Calls run one after the other, those of the communication thread too, so that the
  // order of the numbers is the program's. After an error there are no more calls.
  template <typename Work>
  void call(const Work& work) {
    family->queue->drain();
    attempt(work, number);
  }
  template <typename Work>
  Handle start(Work work) {
    return family->queue->start([this, work = std::move(work)] { attempt(work, number); });
  }
  // For calls that run nothing of the program's: one rank has nothing to wait for, and makes its call here.
  template <typename Work>
  Handle start_or_make(Work work) {
    if (transport.size() > 1) return start(std::move(work));
    return family->queue->run_or_start([this, work = std::move(work)] { attempt(work, number); });
  }
  // On the communication thread too, which stays with it until the GPU is done; a waiting caller goes on when
  // the program's streams wait for it.
  Handle start_on_gpu(GpuCall what) {
    auto begun = std::make_shared<GpuCollectives::Start>(gpu.start(what));
    auto state = std::make_shared<Handle::State>();
    auto run = [this, what = std::move(what), begun, state] {
      std::exception_ptr error;
      try {
        attempt([&](std::uint64_t its) { gpu.run(what, *begun, its, [&] { state->finish(nullptr); }); },
                number);
      } catch (...) {
        error = std::current_exception();
      }
      begun->ready.clear();
      state->finish(std::move(error));
    };
    if (!family->queue->is_this_thread()) return family->queue->start_finishing(state, std::move(run));
    run();
    return Handle(std::move(state));
  }
  // `next` is the call's number. A call that was refused sent nothing: the next one has its number.
  template <typename Work>
  void attempt(const Work& work, std::uint64_t& next) {
    {
      const std::lock_guard lock(family->mutex);
      if (family->broken) throw Error(*family->broken);
    }
    const std::uint64_t mine = next++;
    const CallCount call(family->calls_under_way);
    try {
      work(mine);
    } catch (const Error& error) {
      if (error.fault() == Fault::usage) {
        next = mine;
        throw;
      }
      const std::lock_guard lock(family->mutex);
      if (!family->broken) abandon_family();
      family->broken = error;
      throw;
    }
  }

  // After an error nothing of the family waits for other ranks any more.
  void abandon_family() noexcept;
  // exit() with this Context alive. Where a call is under way, MPI may belong to another thread.
  void leave() noexcept;
  // One text of each rank, as a call of the program's.
  std::vector<std::string> gather(OpType op, const std::string& mine);
  // Null without a color. Throws usage in a call of start().
  std::shared_ptr<Impl> split(std::optional<int> color, int key, const std::string& name);
  // The program leaves, in order or by an exception of its own. After an exception no call of this rank
  // follows, so the other ranks get an error.
  void end() noexcept;
  // No call of this rank follows: the other ranks get an Error(lost) with this text.
  void abandon(const std::string& what) noexcept;

  int exceptions = std::uncaught_exceptions();
  std::shared_ptr<Family> family;
  std::unique_ptr<Transport> own_transport;  // of a group
  Transport& transport;
  Options options;
  RankGroup group;
  Grid grid;
  Start start_up;
  Collectives collectives;
  GpuCollectives gpu;
  std::uint64_t number = 1;
  std::uint64_t allocation = 1;  // a host's ranks share memory, whatever those of other hosts do
  LiveContext live{[this] { leave(); }};

 private:
  std::shared_ptr<Impl> make_group(const SplitPlan& plan, std::uint64_t split_number,
                                   const std::string& name);
};

}  // namespace ddl
