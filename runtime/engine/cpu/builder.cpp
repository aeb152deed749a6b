// SPDX-License-Identifier: MIT
#include "runtime/engine/cpu/builder.hpp"

#include "runtime/engine/cpu/memory_planner.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace ddlrun::runtime::cpu {
namespace {

Tag plain_tag(std::size_t dimensions) {
  constexpr Tag tags[] = {Tag::a, Tag::ab, Tag::abc, Tag::abcd, Tag::abcde};
  return tags[dimensions - 1];
}

std::shared_ptr<std::byte> allocate_arena(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  auto* arena = static_cast<std::byte*>(std::aligned_alloc(page, (bytes + page) / page * page));
  if (arena == nullptr) throw std::bad_alloc();
  std::memset(arena, 0, bytes);
  return {arena, std::free};
}

}  // namespace

Builder::Builder(std::size_t batch, const FlatVectors& flat, const dnnl::engine& engine)
    : batch_(static_cast<dnnl::memory::dim>(batch)), flat_(flat), engine_(engine) {
  program_.key = std::make_shared<StepKey>();
}

dnnl::prop_kind Builder::kind() const {
  return training() ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
}

void Builder::add(dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> arguments) {
  (is_backward_ ? program_.backward : program_.forward)
      .push_back({std::move(primitive), std::move(arguments), nullptr});
}

void Builder::add_own(std::vector<dnnl::memory> uses, std::function<void()> own) {
  Step step;
  for (std::size_t i = 0; i < uses.size(); ++i) step.arguments.emplace(static_cast<int>(i), uses[i]);
  step.own = std::move(own);
  (is_backward_ ? program_.backward : program_.forward).push_back(std::move(step));
}

dnnl::memory Builder::memory(const Desc& desc) {
  memories_.push_back({desc, engine_, DNNL_MEMORY_NONE});
  return memories_.back();
}

dnnl::memory Builder::part_of(const dnnl::memory& whole, const Desc& desc) {
  const auto found = std::find(memories_.begin(), memories_.end(), whole);
  auto index = static_cast<std::size_t>(found - memories_.begin());
  if (found == memories_.end()) {
    // A part of a part lies in the same memory: where rows are plain already, as without AVX-512, none is
    // copied between.
    const auto parent =
        std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) { return part.memory == whole; });
    if (parent == parts_.end()) return {desc, engine_, whole.get_data_handle()};
    index = parent->whole;
  }
  const dnnl::memory part(desc, engine_, DNNL_MEMORY_NONE);
  parts_.push_back({part, index});
  return part;
}

dnnl::memory Builder::view(std::span<float> flat, std::size_t offset, const Dims& dims) const {
  return {plain(dims), engine_, flat.data() + offset};
}

dnnl::memory Builder::in_layout(const dnnl::memory& from, const Desc& wanted) {
  if (from.get_desc() == wanted) return from;
  const dnnl::memory to = memory(wanted);
  copy(from, to);
  return to;
}

dnnl::memory Builder::in_plain(const dnnl::memory& from) {
  return in_layout(from, plain(dims_of(from.get_desc())));
}

void Builder::copy(const dnnl::memory& from, const dnnl::memory& to) {
  const dnnl::reorder::primitive_desc description(engine_, from.get_desc(), engine_, to.get_desc());
  add(dnnl::reorder(description), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

dnnl::memory Builder::sum_of(const std::vector<dnnl::memory>& memories) {
  if (memories.size() == 1) return memories.front();
  std::unordered_map<int, dnnl::memory> arguments;
  std::vector<Desc> descs;
  for (const dnnl::memory& one : memories) {
    const dnnl::memory alike = in_layout(one, memories.front().get_desc());
    arguments.emplace(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(descs.size()), alike);
    descs.push_back(alike.get_desc());
  }
  const auto description = describe_sum(engine_, descs);
  const dnnl::memory result = memory(description.dst_desc());
  arguments.emplace(DNNL_ARG_DST, result);
  add(dnnl::sum(description), std::move(arguments));
  return result;
}

Program Builder::finish() {
  std::unordered_map<dnnl_memory_t, std::size_t> known;
  std::vector<BufferLifetime> lifetimes;
  for (const dnnl::memory& one : memories_) {
    known.emplace(one.get(), lifetimes.size());
    lifetimes.push_back({one.get_desc().get_size(), SIZE_MAX, 0});
  }
  for (const Part& part : parts_) known.emplace(part.memory.get(), part.whole);
  std::size_t time = 0;
  for (const Steps* steps : {&program_.forward, &program_.backward}) {
    for (const Step& step : *steps) {
      for (const auto& [index, argument] : step.arguments) {
        const auto found = known.find(argument.get());
        if (found == known.end()) continue;
        lifetimes[found->second].first = std::min(lifetimes[found->second].first, time);
        lifetimes[found->second].last = time;
      }
      ++time;
    }
  }
  const MemoryPlan plan = plan_memory(lifetimes);
  program_.arena = allocate_arena(plan.bytes);
  program_.arena_bytes = plan.bytes;
  for (std::size_t i = 0; i < memories_.size(); ++i)
    memories_[i].set_data_handle(program_.arena.get() + plan.offsets[i]);
  for (Part& part : parts_) part.memory.set_data_handle(program_.arena.get() + plan.offsets[part.whole]);
  return std::move(program_);
}

Desc any_layout(const Dims& dims) { return {dims, float32, Tag::any}; }
Desc plain(const Dims& dims) { return {dims, float32, plain_tag(dims.size())}; }
Dims dims_of(dnnl::memory::dim batch, const Shape& shape) {
  return {batch, shape.channels, shape.height, shape.width};
}
float* floats_of(const dnnl::memory& memory) { return static_cast<float*>(memory.get_data_handle()); }

}  // namespace ddlrun::runtime::cpu
