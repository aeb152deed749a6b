// SPDX-License-Identifier: MIT
#include "ddl/api/context_impl.hpp"
#include "ddl/core/checks.hpp"
#include "ddl/core/rank_consistency.hpp"
#include "ddl/core/rounding.hpp"
#include "ddl/transport/message_wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

namespace ddl {
namespace {

// Calls only read a ConstTensor; a Tensor has no const pointer.
Tensor unguarded(const ConstTensor& tensor) {
  return {const_cast<std::byte*>(tensor.data),
          tensor.count,
          tensor.type,
          tensor.name,
          tensor.memory,
          tensor.stream};
}

bool on_gpu(const Tensor& tensor) { return tensor.memory == Memory::device; }

void refuse_on_gpu(const Tensor& tensor, const char* why) {
  if (on_gpu(tensor))
    throw Error(Fault::usage, why, tensor.name, "all_reduce, with all tensors in one kind of memory");
}

}  // namespace

std::shared_ptr<Context::Impl> ContextFactory::make_impl(std::unique_ptr<Transport> transport,
                                                         const Options& options) {
  check_timeout(options);
  auto impl =
      std::make_shared<Context::Impl>(std::make_shared<Context::Impl::Family>(std::move(transport)), options);
  if (options.mode == Mode::nccl) impl->call([&](std::uint64_t number) { impl->gpu.open(number); });
  return impl;
}

std::optional<Error> ContextFactory::first_error(const Context& context) {
  Context::Impl::Family& family = *context.impl_->family;
  family.queue->drain();
  const std::lock_guard lock(family.mutex);
  return family.broken;
}

void ContextFactory::abandon(Context& context, const std::string& reason) noexcept {
  context.impl_->family->queue->drain();
  context.impl_->abandon(fmt::format("{} gave up: {}", context.name_of(context.rank()), reason));
}

Context::Context(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Context::~Context() {
  if (impl_) impl_->end();
}
Context::Context(Context&& other) noexcept = default;
Context& Context::operator=(Context&& other) noexcept {
  Context(std::move(other)).impl_.swap(impl_);
  return *this;
}

std::optional<Context> Context::split(std::optional<int> color, int key, const std::string& name) {
  std::shared_ptr<Impl> group = impl_->split(color, key, name);
  if (!group) return std::nullopt;
  return Context(std::move(group));
}

int Context::rank() const { return impl_->transport.rank(); }
int Context::size() const { return impl_->transport.size(); }
int Context::local_rank() const { return impl_->collectives.place().local_rank; }
int Context::local_size() const { return static_cast<int>(impl_->collectives.place().local_ranks.size()); }
int Context::host() const { return impl_->collectives.place().host; }
int Context::hosts() const { return static_cast<int>(impl_->grid.hosts.size()); }
std::string Context::dims() const { return impl_->grid.text(); }
std::string Context::device() const {
  impl_->family->queue->drain();
  return impl_->gpu.device();
}
std::string Context::name_of(int rank) const { return impl_->grid.name_of(rank); }

std::pair<std::shared_ptr<void>, std::byte*> Context::allocate_bytes(std::size_t bytes, bool one_each) {
  impl_->family->queue->drain();
  bytes = std::min(bytes, max_bytes);
  impl_->attempt(
      [&](std::uint64_t number) { impl_->collectives.rendezvous_to_allocate(bytes, one_each, number); },
      impl_->allocation);
  if (!one_each) {  // the parts lie one after the other: together they are enough
    const auto ranks = static_cast<std::size_t>(local_size());
    bytes = round_up((bytes + ranks - 1) / ranks, page_bytes);
  } else {  // an odd number of pages: vectors a large power of two apart are read at half the speed
    bytes = (round_up(bytes, page_bytes) / page_bytes | 1U) * page_bytes;
  }
  std::shared_ptr<SharedBuffer> buffer = impl_->collectives.buffers().allocate(bytes);
  std::byte* mine = buffer->part(one_each ? local_rank() : 0).data();
  return {std::move(buffer), mine};
}

void Context::broadcast(const Tensor& tensor, int root) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::broadcast, {tensor}, {}, {}, root}).wait();
  impl_->call([&](std::uint64_t number) { impl_->collectives.broadcast(tensor, root, number); });
}

void Context::all_reduce(const Tensor& tensor, Operation operation) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::all_reduce, {tensor}, {}, operation}).wait();
  impl_->call([&](std::uint64_t number) { impl_->collectives.all_reduce(tensor, operation, number); });
}

void Context::all_reduce_n(std::span<const Tensor> tensors, Operation operation) {
  if (!tensors.empty() && on_gpu(tensors.front()))
    return impl_->start_on_gpu({OpType::all_reduce, {tensors.begin(), tensors.end()}, {}, operation}).wait();
  for (const Tensor& each : tensors)
    refuse_on_gpu(each, "one call has tensors in host memory and in GPU memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.all_reduce_n(tensors, operation, number); });
}

void Context::reduce_scatter(const ConstTensor& given, const Tensor& out, Operation operation) {
  const Tensor in = unguarded(given);
  if (on_gpu(in)) return impl_->start_on_gpu({OpType::reduce_scatter, {in}, out, operation}).wait();
  refuse_on_gpu(out, "the input lies in host memory, the output in GPU memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.reduce_scatter(in, out, operation, number); });
}

void Context::all_gather(const ConstTensor& given, const Tensor& out) {
  const Tensor in = unguarded(given);
  if (on_gpu(in)) return impl_->start_on_gpu({OpType::all_gather, {in}, out}).wait();
  refuse_on_gpu(out, "the input lies in host memory, the output in GPU memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.all_gather(in, out, number); });
}

void Context::reduce(const Tensor& tensor, Operation operation, int root) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::reduce, {tensor}, {}, operation, root}).wait();
  impl_->call([&](std::uint64_t number) { impl_->collectives.reduce(tensor, operation, root, number); });
}

void Context::scatter(const ConstTensor& given, const Tensor& out, int root) {
  const Tensor in = unguarded(given);
  for (const Tensor& each : {in, out}) refuse_on_gpu(each, "scatter needs tensors in host memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.scatter(in, out, root, number); });
}

void Context::gather(const ConstTensor& given, const Tensor& out, int root) {
  const Tensor in = unguarded(given);
  for (const Tensor& each : {in, out}) refuse_on_gpu(each, "gather needs tensors in host memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.gather(in, out, root, number); });
}

void Context::barrier() {
  impl_->call([&](std::uint64_t number) { impl_->collectives.barrier(number); });
}

void Context::set_progress(std::uint64_t state) { impl_->collectives.set_progress(state); }

void Context::all_reduce_update(const Tensor& tensor, Operation operation, const Update& update) {
  refuse_on_gpu(tensor, "all_reduce_update needs a tensor in host memory");
  impl_->call(
      [&](std::uint64_t number) { impl_->collectives.all_reduce_update(tensor, operation, number, update); });
}

Handle Context::start_all_reduce(const Tensor& tensor, Operation operation) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::all_reduce, {tensor}, {}, operation});
  return impl_->start_or_make([impl = impl_.get(), tensor, operation](std::uint64_t number) {
    impl->collectives.all_reduce(tensor, operation, number);
  });
}

Handle Context::start_all_reduce_update(const Tensor& tensor, Operation operation, Update update) {
  refuse_on_gpu(tensor, "all_reduce_update needs a tensor in host memory");
  return impl_->start(
      [impl = impl_.get(), tensor, operation, update = std::move(update)](std::uint64_t number) {
        impl->collectives.all_reduce_update(tensor, operation, number, update);
      });
}

Handle Context::start_broadcast(const Tensor& tensor, int root) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::broadcast, {tensor}, {}, {}, root});
  return impl_->start_or_make([impl = impl_.get(), tensor, root](std::uint64_t number) {
    impl->collectives.broadcast(tensor, root, number);
  });
}

Handle Context::start_reduce(const Tensor& tensor, Operation operation, int root) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::reduce, {tensor}, {}, operation, root});
  return impl_->start_or_make([impl = impl_.get(), tensor, operation, root](std::uint64_t number) {
    impl->collectives.reduce(tensor, operation, root, number);
  });
}

Handle Context::start(std::function<void()> calls) { return impl_->family->queue->start(std::move(calls)); }

std::vector<std::string> Context::gather(const std::string& mine) {
  return impl_->gather(OpType::gather, mine);
}

std::unique_ptr<RankMessages> Context::open_messages() {
  std::unique_ptr<RankMessages> messages;
  impl_->call([&](std::uint64_t) { messages = make_rank_messages(impl_->transport); });
  return messages;
}

// The launcher names the rank whose process ends first, which may be another one.
void Context::abort(int status) noexcept {
  std::fprintf(stderr, "libddl: %s called abort: all ranks end with status %d\n", name_of(rank()).c_str(),
               status);
  std::fflush(stderr);
  impl_->family->transport->abort(status);
}

void Context::verify_tensors(std::span<const Tensor> tensors) {
  for (const Tensor& each : tensors) check_type(each);
  const std::string mine = render_layout(tensors);
  // Hashes first: a thousand ranks with a thousand tensors need not send all names.
  const std::vector<std::string> hashes =
      impl_->gather(OpType::verify_tensors, fmt::format("{:016x}", hash_text(mine)));
  if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) == hashes.end()) return;
  std::vector<std::string> names;
  for (int r = 0; r < size(); ++r) names.push_back(name_of(r));
  if (const auto difference = find_difference(impl_->gather(OpType::verify_tensors, mine), names))
    throw Error(*difference);
}

}  // namespace ddl
