// SPDX-License-Identifier: MIT
#include "ddl/gpu_collectives.hpp"

#include "ddl/agreement.hpp"
#include "ddl/checks.hpp"
#include "ddl/clock.hpp"
#include "ddl/gpu_told.hpp"
#include "ddl/occasion_note.hpp"
#include "ddl/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace ddl {
namespace {

constexpr double between_gpu_looks = 0.01;
constexpr double silence_seconds = 1.2;  // a pulse is older than a second then
constexpr int polls_before_naps = 2000;
constexpr auto gpu_nap = std::chrono::microseconds(20);
constexpr const char* use_host = "-mode b, with tensors in host memory";

int choose_gpu_of(int local_rank, const GpuPlugin& plugin) {
  if (const auto current = plugin.current_device()) return *current;
  const int count = plugin.device_count();
  if (count == 1) return 0;
  if (local_rank < count) return local_rank;
  throw Error(
      Fault::unsupported,
      count == 0 ? "this rank sees no GPU"
                 : fmt::format("local rank {} has no GPU: {} can be seen, counted from 0", local_rank, count),
      "CUDA_VISIBLE_DEVICES",
      count == 0 ? fmt::format("nvidia-smi -L; or {}", use_host)
                 : fmt::format("nvidia-smi -L; or {} ranks per host", count));
}

}  // namespace

GpuCollectives::GpuCollectives(Collectives& collectives, Ranks& ranks, const Grid& grid,
                               const Options& options)
    : collectives_(collectives),
      ranks_(ranks),
      grid_(grid),
      options_(options),
      speed_(ranks, grid, report_interval(options)) {}

GpuCollectives::~GpuCollectives() {
  if (!groups_) return;
  call_ = "the end of its context";
  pulse_->begin(UINT64_MAX);
  try {
    groups_->finish();
    pulse_->end();
  } catch (const Error&) {  // a rank that ended otherwise: NCCL is not waited for
    abandon();
  }
}

void GpuCollectives::abandon() noexcept {
  if (groups_) groups_->abort();
  groups_.reset();
}

std::string GpuCollectives::device() const {
  return gpu_ ? fmt::format("cuda:{} ({})", gpu_->index(), gpu_->name()) : "cpu";
}

// An obstacle is told when all are asked.
void GpuCollectives::take_gpu(int device) {
  try {
    const GpuPlugin& plugin = load_gpu_plugin();
    gpu_ = plugin.open(device >= 0 ? device : choose_gpu_of(collectives_.place().local_rank, plugin));
  } catch (const Error& error) {
    obstacle_ = error;
  }
}

void GpuCollectives::open(std::uint64_t number) {
  tried_ = true;
  call_ = "the start of mode n";
  take_gpu(-1);
  try {
    if (gpu_) gpu_->make_current();
    connect(number);
    pulse_->end();
  } catch (const Error& error) {
    collectives_.tell(error);
    throw;
  }
}

std::string GpuCollectives::describe_mine() {
  GpuTold mine;
  try {
    if (obstacle_) throw Error(*obstacle_);
    load_gpu_plugin().require_nccl();
    mine.card = gpu_->card();
    mine.name = gpu_->name();
    for (const GpuMembers& members : plan_gpu_groups(grid_, ranks_.rank(), options_.nccl_levels))
      mine.ids.push_back(members.me == 0 ? gpu_->make_id() : "-");
  } catch (const Error& error) {
    mine.obstacle = error.what();
    mine.where = error.where();
    mine.hint = error.hint();
  }
  return render_told(mine);
}

void GpuCollectives::connect(std::uint64_t number) {
  const std::vector<std::string> texts =
      gather_texts(describe_mine(), ranks_.rank(), ranks_.size(),
                   [&](const Tensor& tensor) { collectives_.sum(Verb::all_reduce, tensor, number); });
  std::vector<GpuTold> told;
  for (const std::string& text : texts) told.push_back(parse_told(text));
  if (const auto obstacle = find_gpu_obstacle(told, grid_)) throw Error(*obstacle);
  const std::vector<GpuMembers> plan = plan_gpu_groups(grid_, ranks_.rank(), options_.nccl_levels);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < plan.size(); ++i)
    ids.push_back(told[static_cast<std::size_t>(plan[i].ranks.front())].ids.at(i));
  pulse_ = std::make_unique<HostPulse>(collectives_.group());
  pulse_->begin(number);
  pulse_->ready();
  groups_ = std::make_unique<GpuGroups>(
      *gpu_, plan, ids, [this](const std::function<bool()>& passed) { wait_until(passed, true); });
}

void GpuCollectives::check(const GpuCall& call) const {
  const Tensor& first = call.tensors.front();
  const auto size = static_cast<std::size_t>(ranks_.size());
  for (const Tensor& each : call.tensors) {
    if (each.memory == Memory::host)
      throw Error(Fault::usage, "one call has tensors in host memory and in GPU memory", each.name,
                  "a call for each kind of memory");
    check_tensor(each);
    check_operation(each, call.operation);
  }
  if (call.verb == Verb::broadcast) check_root(first, call.root, ranks_.size());
  if (!call.out) return;
  check_tensor(*call.out);
  const Tensor& small = call.verb == Verb::reduce_scatter ? *call.out : first;
  const Tensor& large = call.verb == Verb::reduce_scatter ? first : *call.out;
  if (call.out->memory == Memory::host || small.type != large.type || large.count % size != 0 ||
      large.count / size != small.count)
    throw Error(
        Fault::usage,
        fmt::format("{} {} and {} {} do not belong together: {} ranks need {} in GPU memory for {} each",
                    first.count, name_of(first.type), call.out->count, name_of(call.out->type), size,
                    small.count * size, small.count),
        first.name, "both in GPU memory, of one type, one with size() times the other's elements");
}

// NCCL would end the process where memory is not the GPU's.
void GpuCollectives::check_place(const Tensor& tensor) const {
  if (tensor.count == 0) return;
  const std::optional<int> device = load_gpu_plugin().device_of(tensor.data);
  if (!device)
    throw Error(Fault::usage, fmt::format("tensor \"{}\" lies in host memory, not on a GPU", tensor.name),
                tensor.name, "ddl::tensor(...), or memory from cudaMalloc");
  if (*device != gpu_->index())
    throw Error(Fault::usage,
                fmt::format("tensor \"{}\" lies on GPU {}, this rank adds on GPU {}", tensor.name, *device,
                            gpu_->index()),
                tensor.name, fmt::format("cudaSetDevice({}) before cudaMalloc", gpu_->index()));
}

GpuCollectives::Start GpuCollectives::start(const GpuCall& call) {
  check(call);
  std::vector<Tensor> all = call.tensors;
  if (call.out) all.push_back(*call.out);
  if (!tried_) {
    tried_ = true;
    const auto some = std::find_if(all.begin(), all.end(), [](const Tensor& each) { return each.count > 0; });
    try {
      const std::optional<int> device =
          some == all.end() ? std::nullopt : load_gpu_plugin().device_of(some->data);
      take_gpu(device.value_or(-1));
    } catch (const Error& error) {
      obstacle_ = error;
    }
  }
  Start start;
  if (!gpu_) return start;
  for (const Tensor& each : all) {
    check_place(each);
    if (std::find(start.streams.begin(), start.streams.end(), each.stream) == start.streams.end())
      start.streams.push_back(each.stream);
  }
  try {
    if (options_.dev_sync > 0) gpu_->synchronize();
    for (void* const stream : start.streams) start.ready.push_back(gpu_->mark(stream));
  } catch (const Error& error) {
    start.error = error;
  }
  std::erase(start.streams, nullptr);
  return start;
}

void GpuCollectives::issue(const GpuCall& call) {
  const Tensor& first = call.tensors.front();
  switch (call.verb) {
    case Verb::broadcast:
      return groups_->broadcast(first, call.root);
    case Verb::reduce_scatter:
      return groups_->reduce_scatter(first, *call.out, call.operation);
    case Verb::all_gather:
      return groups_->all_gather(first, *call.out);
    case Verb::all_reduce:
    case Verb::start:
    case Verb::barrier:
    case Verb::all_reduce_n:
    case Verb::all_reduce_update:
    case Verb::gather:
    case Verb::agree:
    case Verb::allocate:
      break;
  }
  groups_->all_reduce(call.tensors, call.operation);
}

namespace {

std::size_t bytes_of(const GpuCall& call) {
  std::size_t bytes = 0;
  for (const Tensor& each : call.tensors) bytes += each.bytes();
  return bytes;
}

Occasion occasion_of(const GpuCall& call, std::uint64_t number) {
  Occasion occasion{call.verb, {number, hash_text("on GPUs")}, 0, call.tensors.front().type, 0};
  for (const Tensor& each : call.tensors) {
    const std::uint64_t numbers[] = {
        occasion.call.signature, each.count, static_cast<std::uint64_t>(each.type),
        static_cast<std::uint64_t>(call.operation), static_cast<std::uint64_t>(call.root)};
    occasion.call.signature = hash_text(each.name, hash_numbers(numbers));
    occasion.count += each.count;
  }
  occasion.detail =
      static_cast<std::uint8_t>(call.verb == Verb::broadcast ? call.root : static_cast<int>(call.operation));
  return occasion;
}

}  // namespace

void GpuCollectives::run(const GpuCall& call, Start& start, std::uint64_t number,
                         const std::function<void()>& issued) {
  const Occasion occasion = occasion_of(call, number);
  call_ = render_note(note_of(occasion));
  tensor_ = call.tensors.front().name;
  try {
    if (start.error) throw Error(*start.error);
    collectives_.meet(occasion, call.tensors.front());
    if (!groups_) connect(number);
    pulse_->begin(number);
    for (const auto& mark : start.ready) gpu_->wait_for(*mark);
    issue(call);
    const std::unique_ptr<GpuMark> done = gpu_->mark_ours();
    for (void* const stream : start.streams) gpu_->let_wait(stream, *done);
    if (!start.streams.empty() && options_.dev_sync < 2) issued();
    for (const auto& mark : start.ready) wait_until([&] { return mark->passed(); }, false);
    pulse_->ready();
    const double there = steady_seconds();
    wait_until([&] { return done->passed(); }, true);
    const double seconds = steady_seconds() - there;
    pulse_->end();
    if (call.verb == Verb::all_reduce) speed_.add(bytes_of(call), seconds);
  } catch (const Error& error) {
    collectives_.tell(error);
    abandon();
    throw;
  }
}

// Polls; now and then it answers other ranks, and hears of their errors.
void GpuCollectives::wait_until(const std::function<bool()>& passed, bool timed) {
  const double begin = steady_seconds();
  double next_look = begin + between_gpu_looks;
  StallTimer stall(options_.stall);
  for (int polls = 0; !passed(); ++polls) {
    if (polls < polls_before_naps) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(gpu_nap);
    }
    const double now = steady_seconds();
    if (now < next_look) continue;
    next_look = now + between_gpu_looks;
    pulse_->beat();
    collectives_.look();
    if (groups_ && !groups_->fault().empty()) break;
    if (!pulse_->find_dead().empty()) lose("", true);
    if (!timed) continue;
    if (now - begin >= options_.timeout_seconds)
      lose(fmt::format("it has not ended within {:g} s", options_.timeout_seconds), true);
    stall.waited(now - begin, [&] { return describe_stall(); });
  }
  stall.over(steady_seconds() - begin);
  if (!groups_) return;
  if (const std::string fault = groups_->fault(); !fault.empty()) lose(fault, false);
}

// None, where all of them answer.
std::optional<HostPulse::Silent> GpuCollectives::find_silent_elsewhere() {
  RollCall* const roll = collectives_.roll();
  for (int rank = 0; roll != nullptr && rank < ranks_.size(); ++rank) {
    if (grid_.host_of[static_cast<std::size_t>(rank)] == collectives_.place().host) continue;
    const RollCall::Silence silence = roll->find_silent(rank);
    if (!silence.circle) return HostPulse::Silent{-1, silence.name, "answers nobody", ""};
  }
  return std::nullopt;
}

// Empty unless this rank is the first of its host's that wait, or nobody is known to be missing.
Stall GpuCollectives::describe_stall() {
  std::vector<HostPulse::Silent> late = pulse_->find_silent();
  if (late.empty()) late = pulse_->find_unready();
  int first = 0;
  for (const HostPulse::Silent& rank : late) first += rank.local_rank == first ? 1 : 0;
  if (first != collectives_.place().local_rank) return {};
  if (late.empty()) {
    if (const auto silent = find_silent_elsewhere()) late.push_back(*silent);
  }
  Stall stall;
  stall.call = call_ + " on GPUs";
  stall.tensor = tensor_;
  for (const HostPulse::Silent& rank : late) stall.missing.push_back(rank.name);
  if (!late.empty()) stall.seen = late.front().more.empty() ? late.front().state : late.front().more;
  return stall;
}

void GpuCollectives::lose(const std::string& why, bool at_once) {
  const auto named = [&](const HostPulse::Silent& rank) {
    std::string text = fmt::format("{} {} in {} on GPUs", rank.name, rank.state, call_);
    for (const std::string& more : {rank.more, why})
      if (!more.empty()) text += "; " + more;
    return Error(Fault::lost, text, rank.name, "see whether it still runs and what it last said");
  };
  const double end = steady_seconds() + (at_once ? 0.0 : silence_seconds);
  while (true) {
    if (const auto silent = pulse_->find_silent(); !silent.empty()) throw named(silent.front());
    if (steady_seconds() >= end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    pulse_->beat();
    collectives_.look();
  }
  if (const auto silent = find_silent_elsewhere()) throw named(*silent);
  if (const auto late = pulse_->find_unready(); at_once && !late.empty()) throw named(late.front());
  throw Error(
      Fault::lost,
      fmt::format("{} on GPUs is not done; {}; all ranks answer, so which one is missing cannot be known",
                  call_, why),
      fmt::format("{}, {}", grid_.name_of(ranks_.rank()), device()),
      "NCCL_DEBUG=WARN shows for whom NCCL waits; slow kernels before a sum need a longer -timeout");
}

}  // namespace ddl
