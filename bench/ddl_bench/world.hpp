// SPDX-License-Identifier: MIT
// All ranks of a run, for what the measuring itself must agree on. Every call is collective.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::ddl_bench {

class World {
 public:
  virtual ~World() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void barrier() = 0;
  // Element by element; all ranks give as many.
  virtual std::vector<double> max_of(const std::vector<double>& mine) = 0;
  virtual std::size_t sum_of(std::size_t mine) = 0;
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
};

}  // namespace ddlrun::ddl_bench
