// SPDX-License-Identifier: MIT
// The trainer's group of ranks over libddl.
#pragma once

#include "ddl/ddl.hpp"
#include "runtime/communicator.hpp"

#include <deque>

namespace ddlrun::runtime {

// libddl's errors as ours, with the same words: a wrong setting is usage, a lost or different rank a request
// that cannot be met.
Error convert_error(const ddl::Error& error);

class DdlCommunicator : public Communicator {
 public:
  explicit DdlCommunicator(ddl::Context& context) : context_(context) {}

  int rank() const override { return context_.rank(); }
  int size() const override { return context_.size(); }
  std::span<float> allocate(std::size_t count) override;
  void all_reduce_sum(std::span<const float> in, std::span<float> out) override;
  void all_reduce_sum(std::span<float> data) override;
  void broadcast(std::span<float> data) override;
  std::vector<std::string> gather_all(const std::string& mine) override;

 private:
  ddl::Context& context_;
  std::deque<ddl::Buffer<float>> buffers_;
};

}  // namespace ddlrun::runtime
