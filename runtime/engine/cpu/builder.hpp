// SPDX-License-Identifier: MIT
// Builds a program: memories, views of the flat vectors, reorders, steps. Memories share one arena: each
// occupies its region from its first step to its last one.
#pragma once

#include "runtime/engine/cpu/program.hpp"

#include <utility>
#include <vector>

namespace ddlrun::runtime::cpu {

constexpr auto float32 = dnnl::memory::data_type::f32;
using Tag = dnnl::memory::format_tag;

class Builder {
 public:
  Builder(std::size_t batch, const FlatVectors& flat, const dnnl::engine& engine);

  const dnnl::engine& engine() const { return engine_; }
  dnnl::memory::dim batch() const { return batch_; }
  bool training() const { return !flat_.gradients.empty(); }
  dnnl::prop_kind kind() const;
  const FlatVectors& flat() const { return flat_; }
  Program& program() { return program_; }

  // Ends the forward list; later steps go to the backward list.
  void start_backward() { is_backward_ = true; }
  void add(dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> arguments);
  void add_own(std::vector<dnnl::memory> uses, std::function<void()> own);

  // memory(): lives in the arena while steps use it; part_of(): a part of one; persistent(): has its own
  // allocation.
  dnnl::memory memory(const Desc& desc);
  dnnl::memory part_of(const dnnl::memory& whole, const Desc& desc);
  dnnl::memory persistent(const Desc& desc) const { return {desc, engine_}; }
  // A range of a flat vector in plain layout; no copy.
  dnnl::memory view(std::span<float> flat, std::size_t offset, const Dims& dims) const;

  // `from` itself when it already has the layout, else a new memory and the reorder that fills it.
  dnnl::memory in_layout(const dnnl::memory& from, const Desc& wanted);
  dnnl::memory in_plain(const dnnl::memory& from);
  void copy(const dnnl::memory& from, const dnnl::memory& to);
  // One memory as it is; else their sum.
  dnnl::memory sum_of(const std::vector<dnnl::memory>& memories);

  // Assigns every memory its region of the arena.
  Program finish();

 private:
  struct Part {
    dnnl::memory memory;
    std::size_t whole;
  };

  dnnl::memory::dim batch_;
  FlatVectors flat_;
  const dnnl::engine& engine_;
  bool is_backward_ = false;
  Program program_;
  std::vector<dnnl::memory> memories_;
  std::vector<Part> parts_;
};

Desc any_layout(const Dims& dims);
Desc plain(const Dims& dims);
// Batch and shape as oneDNN's dims: {n, c, h, w}.
Dims dims_of(dnnl::memory::dim batch, const Shape& shape);
float* floats_of(const dnnl::memory& memory);

}  // namespace ddlrun::runtime::cpu
