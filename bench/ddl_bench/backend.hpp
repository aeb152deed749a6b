// SPDX-License-Identifier: MIT
// One way to add up over all ranks, as the measuring sees it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::ddl_bench {

// A backend with its memory for one size.
class Case {
 public:
  virtual ~Case() = default;
  virtual std::string how() const { return ""; }
  virtual std::span<std::byte> input() = 0;  // what this rank adds; empty: nothing to check
  virtual std::span<const std::byte> output() = 0;
  virtual void reset() {}  // collective; before a checked call
  virtual void call() = 0;
};

// Which limit belongs to a backend.
enum class Roofline {
  sums,          // n vectors read, n written
  used_once,     // n vectors read, one updated
  half_on_wire,  // as sums, half the bytes between hosts
  none           // not of this memory
};

struct Backend {
  std::string name;
  Roofline limit = Roofline::sums;
  // Collective.
  std::function<std::vector<std::unique_ptr<Case>>(std::size_t bytes)> make;
};

}  // namespace ddlrun::ddl_bench
