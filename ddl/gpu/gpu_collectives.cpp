// SPDX-License-Identifier: MIT
#include "ddl/gpu/gpu_collectives.hpp"

#include "ddl/core/call_record.hpp"
#include "ddl/core/checks.hpp"
#include "ddl/core/clock.hpp"
#include "ddl/core/environment.hpp"
#include "ddl/core/gather_strings.hpp"
#include "ddl/core/rank_consistency.hpp"
#include "ddl/gpu/gpu_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace ddl {
namespace {

constexpr double gpu_check_interval = 0.01;
constexpr double unresponsive_grace = 1.2;  // a pulse is older than a second then
constexpr int polls_before_sleep = 2000;
constexpr auto gpu_sleep = std::chrono::microseconds(20);
constexpr const char* use_host = "-mode b, with tensors in host memory";

int choose_gpu_of(int local_rank, const GpuPlugin& plugin) {
  if (const auto current = plugin.current_device()) return *current;
  const int count = plugin.device_count();
  if (count == 1) return 0;
  if (local_rank < count) return local_rank;
  throw Error(Fault::unsupported,
              count == 0
                  ? "no GPU is visible to this rank"
                  : fmt::format("local rank {} has no GPU: this host has {} visible GPUs, counted from 0",
                                local_rank, count),
              "CUDA_VISIBLE_DEVICES",
              count == 0 ? fmt::format("nvidia-smi -L; or {}", use_host)
                         : fmt::format("nvidia-smi -L; or {} ranks per host", count));
}

}  // namespace

GpuCollectives::GpuCollectives(Collectives& collectives, Transport& transport, const Grid& grid,
                               const Options& options)
    : collectives_(collectives),
      transport_(transport),
      grid_(grid),
      options_(options),
      bandwidth_(transport, grid, report_interval(options)) {}

GpuCollectives::~GpuCollectives() {
  if (!comms_) return;
  call_ = described_ = "the end of its context";
  heartbeat_->begin(UINT64_MAX);
  try {
    comms_->finish();
    heartbeat_->end();
  } catch (const Error&) {  // a rank that ended otherwise: NCCL is not waited for
    abandon();
  }
}

void GpuCollectives::abandon() noexcept {
  if (comms_) comms_->abort();
  comms_.reset();
}

std::string GpuCollectives::device() const {
  return gpu_ ? fmt::format("cuda:{} ({})", gpu_->index(), gpu_->name()) : "cpu";
}

// Reports an obstacle after asking all.
void GpuCollectives::select_gpu(int device) {
  try {
    const GpuPlugin& plugin = load_gpu_plugin();
    gpu_ = plugin.open(device >= 0 ? device : choose_gpu_of(collectives_.place().local_rank, plugin));
  } catch (const Error& error) {
    obstacle_ = error;
  }
}

void GpuCollectives::open(std::uint64_t number) {
  tried_ = true;
  call_ = described_ = "the start of mode n";
  select_gpu(-1);
  try {
    if (gpu_) gpu_->make_current();
    connect(number);
    heartbeat_->end();
  } catch (const Error& error) {
    collectives_.broadcast_error(error);
    throw;
  }
}

std::string GpuCollectives::describe_own_gpu() {
  GpuInfo mine;
  try {
    if (obstacle_) throw Error(*obstacle_);
    load_gpu_plugin().require_nccl();
    mine.uuid = gpu_->uuid();
    if (const char* const host = environment_variable("NCCL_HOSTID")) mine.nccl_host = host;
    mine.name = gpu_->name();
    for (const GpuCommMembers& members : plan_gpu_comms(grid_, transport_.rank(), options_.nccl_levels))
      mine.ids.push_back(members.me == 0 ? gpu_->make_id() : "-");
  } catch (const Error& error) {
    mine.obstacle = error.what();
    mine.where = error.where();
    mine.hint = error.hint();
  }
  return render_gpu_info(mine);
}

void GpuCollectives::connect(std::uint64_t number) {
  const std::vector<std::string> texts =
      gather_strings(describe_own_gpu(), transport_.rank(), transport_.size(),
                     [&](const Tensor& tensor) { collectives_.sum(OpType::all_reduce, tensor, number); });
  std::vector<GpuInfo> infos;
  for (const std::string& text : texts) infos.push_back(parse_gpu_info(text));
  if (const auto obstacle = find_gpu_obstacle(infos, grid_)) throw Error(*obstacle);
  const std::vector<GpuCommMembers> plan = plan_gpu_comms(grid_, transport_.rank(), options_.nccl_levels);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < plan.size(); ++i)
    ids.push_back(infos[static_cast<std::size_t>(plan[i].ranks.front())].ids.at(i));
  heartbeat_ = std::make_unique<Heartbeat>(collectives_.node_comm());
  heartbeat_->begin(number);
  heartbeat_->ready();
  comms_ = std::make_unique<GpuComms>(
      *gpu_, plan, ids, [this](const std::function<bool()>& completed) { wait_until(completed, true); });
}

void GpuCollectives::check(const GpuCall& call) const {
  const Tensor& first = call.tensors.front();
  const auto size = static_cast<std::size_t>(transport_.size());
  for (const Tensor& each : call.tensors) {
    if (each.memory == Memory::host)
      throw Error(Fault::usage, "one call has tensors in host memory and in GPU memory", each.name,
                  "a call for each kind of memory");
    check_tensor(each);
    check_operation(each, call.operation);
  }
  if (call.op == OpType::broadcast) check_root(first, call.root, transport_.size());
  if (call.op == OpType::reduce)
    check_root(first, call.root, transport_.size(), "reduce(tensor, Operation::sum");
  if (!call.out) return;
  check_tensor(*call.out);
  const Tensor& small = call.op == OpType::reduce_scatter ? *call.out : first;
  const Tensor& large = call.op == OpType::reduce_scatter ? first : *call.out;
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
      select_gpu(device.value_or(-1));
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
  switch (call.op) {
    case OpType::broadcast:
      return comms_->broadcast(first, call.root);
    case OpType::reduce_scatter:
      return comms_->reduce_scatter(first, *call.out, call.operation);
    case OpType::all_gather:
      return comms_->all_gather(first, *call.out);
    case OpType::reduce:
      return comms_->reduce(first, call.operation, call.root);
    case OpType::all_reduce:
    case OpType::scatter:
    case OpType::gather_tensor:
    case OpType::start:
    case OpType::barrier:
    case OpType::all_reduce_n:
    case OpType::all_reduce_update:
    case OpType::gather:
    case OpType::verify_tensors:
    case OpType::allocate:
    case OpType::allocate_for_host:
    case OpType::split:
      break;
  }
  comms_->all_reduce(call.tensors, call.operation);
}

namespace {

std::size_t bytes_of(const GpuCall& call) {
  std::size_t bytes = 0;
  for (const Tensor& each : call.tensors) bytes += each.bytes();
  return bytes;
}

CallInfo call_info_of(const GpuCall& call, std::uint64_t number) {
  CallInfo info{call.op, {number, hash_text("on GPUs")}, 0, call.tensors.front().type, 0};
  for (const Tensor& each : call.tensors) {
    const std::uint64_t numbers[] = {info.call.signature, each.count, static_cast<std::uint64_t>(each.type),
                                     static_cast<std::uint64_t>(call.operation),
                                     static_cast<std::uint64_t>(call.root)};
    info.call.signature = hash_text(each.name, hash_numbers(numbers));
    info.count += each.count;
  }
  if (call.tensors.size() == 1) info.call.tensor = call.tensors.front().name;
  const int detail = call.op == OpType::broadcast ? call.root
                     : call.op == OpType::reduce  ? rooted_detail(call.operation, call.root)
                                                  : static_cast<int>(call.operation);
  info.detail = recorded_detail(detail);
  return info;
}

}  // namespace

void GpuCollectives::run(const GpuCall& call, Start& start, std::uint64_t number,
                         const std::function<void()>& issued) {
  const CallInfo info = call_info_of(call, number);
  call_ = render_record(record_of(info));
  described_ = describe_call(record_of(info), info.call.tensor);
  tensor_ = call.tensors.front().name;
  try {
    if (start.error) throw Error(*start.error);
    collectives_.rendezvous(info, call.tensors.front());
    if (!comms_) connect(number);
    heartbeat_->begin(number);
    for (const auto& mark : start.ready) gpu_->wait_for(*mark);
    issue(call);
    const std::unique_ptr<GpuEvent> done = gpu_->record_own_event();
    for (void* const stream : start.streams) gpu_->make_stream_wait(stream, *done);
    if (!start.streams.empty() && options_.dev_sync < 2) issued();
    for (const auto& mark : start.ready) wait_until([&] { return mark->completed(); }, false);
    heartbeat_->ready();
    const double there = steady_seconds();
    wait_until([&] { return done->completed(); }, true);
    const double seconds = steady_seconds() - there;
    heartbeat_->end();
    if (call.op == OpType::all_reduce) bandwidth_.add(bytes_of(call), seconds);
  } catch (const Error& error) {
    collectives_.broadcast_error(error);
    abandon();
    throw;
  }
}

// Polls; now and then it answers other ranks and reads their errors.
void GpuCollectives::wait_until(const std::function<bool()>& completed, bool timed) {
  const double begin = steady_seconds();
  double next_check = begin + gpu_check_interval;
  StallTimer stall(options_.stall);
  for (int polls = 0; !completed(); ++polls) {
    if (polls < polls_before_sleep) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(gpu_sleep);
    }
    const double now = steady_seconds();
    if (now < next_check) continue;
    next_check = now + gpu_check_interval;
    heartbeat_->beat();
    collectives_.check_errors();
    if (comms_ && !comms_->fault().empty()) break;
    if (!heartbeat_->find_dead().empty()) throw_lost("", true);
    if (!timed) continue;
    if (now - begin >= options_.timeout_seconds)
      throw_lost(fmt::format("it has not ended within {:g} s", options_.timeout_seconds), true);
    stall.waited(now - begin, [&] { return describe_stall(); });
  }
  stall.over(steady_seconds() - begin);
  if (!comms_) return;
  if (const std::string fault = comms_->fault(); !fault.empty()) throw_lost(fault, false);
}

// None, where all of them answer.
std::optional<Heartbeat::Unresponsive> GpuCollectives::find_unresponsive_elsewhere() {
  LivenessInspector* const inspector = collectives_.inspector();
  for (int rank = 0; inspector != nullptr && rank < transport_.size(); ++rank) {
    if (grid_.host_of[static_cast<std::size_t>(rank)] == collectives_.place().host) continue;
    const LivenessInspector::Unresponsive unresponsive =
        inspector->find_unresponsive(grid_.first_rank_of(rank));
    if (!unresponsive.deadlock) return Heartbeat::Unresponsive{-1, unresponsive.name, "does not respond", ""};
  }
  return std::nullopt;
}

// Empty unless this rank is the first of its host's that wait, or no rank is known to be missing.
Stall GpuCollectives::describe_stall() {
  std::vector<Heartbeat::Unresponsive> late = heartbeat_->find_unresponsive();
  if (late.empty()) late = heartbeat_->find_unready();
  int first = 0;
  for (const Heartbeat::Unresponsive& rank : late) first += rank.local_rank == first ? 1 : 0;
  if (first != collectives_.place().local_rank) return {};
  if (late.empty()) {
    if (const auto silent = find_unresponsive_elsewhere()) late.push_back(*silent);
  }
  Stall stall;
  stall.call = call_ + " on GPUs";
  stall.tensor = tensor_;
  for (const Heartbeat::Unresponsive& rank : late) stall.missing.push_back(rank.name);
  if (!late.empty()) stall.seen = late.front().more.empty() ? late.front().state : late.front().more;
  return stall;
}

void GpuCollectives::throw_lost(const std::string& why, bool at_once) {
  const auto named = [&](const Heartbeat::Unresponsive& rank) {
    std::string text = fmt::format("{} {} in {} on GPUs", rank.name, rank.state, described_);
    for (const std::string& more : {rank.more, why})
      if (!more.empty()) text += "; " + more;
    return Error(Fault::lost, text, rank.name, "check whether the process runs, and read its last output");
  };
  const double end = steady_seconds() + (at_once ? 0.0 : unresponsive_grace);
  while (true) {
    if (const auto silent = heartbeat_->find_unresponsive(); !silent.empty()) throw named(silent.front());
    if (steady_seconds() >= end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    heartbeat_->beat();
    collectives_.check_errors();
  }
  if (const auto silent = find_unresponsive_elsewhere()) throw named(*silent);
  if (const auto late = heartbeat_->find_unready(); at_once && !late.empty()) throw named(late.front());
  throw Error(
      Fault::lost,
      fmt::format("{} on GPUs did not complete: {}; all ranks respond, so the slow one cannot be identified",
                  described_, why),
      fmt::format("{}, {}", grid_.name_of(transport_.rank()), device()),
      "NCCL_DEBUG=WARN shows the rank that NCCL waits for; slow kernels before a sum need a longer -timeout");
}

}  // namespace ddl
