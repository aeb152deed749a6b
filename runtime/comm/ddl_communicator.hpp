// SPDX-License-Identifier: MIT
// Communicator over libddl.
#pragma once

#include "ddl/ddl.hpp"
#include "runtime/comm/communicator.hpp"

#include <deque>

namespace ddlrun::runtime {

// Converts an error of libddl: a wrong setting becomes usage, a lost or different rank becomes request.
Error convert_error(const ddl::Error& error);

class DdlCommunicator : public Communicator {
 public:
  // `options`: those of the context.
  DdlCommunicator(ddl::Context& context, const ddl::Options& options);

  int rank() const override { return context_.rank(); }
  int size() const override { return context_.size(); }
  int local_rank() const override { return context_.local_rank(); }
  int local_size() const override { return context_.local_size(); }
  std::span<float> allocate(std::size_t count) override;
  std::span<float> allocate_host_shared(std::size_t count) override;
  void all_reduce_sum(std::span<const float> in, std::span<float> out) override;
  bool reduces_precision() const override { return reduces_precision_; }
  void all_reduce_sum(std::span<float> data, std::string_view name) override;
  void all_reduce_update(std::span<float> data, std::string_view name, const ApplySums& use) override;
  bool chunk_invariant_sums() const override { return chunk_invariant_sums_; }
  void broadcast(std::span<float> data) override;
  std::vector<std::string> gather_all(const std::string& mine) override;
  ddl::Handle start(std::function<void()> work) override { return context_.start(std::move(work)); }
  std::unique_ptr<ddl::RankMessages> open_messages() override { return context_.open_messages(); }
  void abort(int status) override { context_.abort(status); }
  void set_progress(std::uint64_t state) override { context_.set_progress(state); }

 private:
  ddl::Context& context_;
  bool chunk_invariant_sums_;
  bool reduces_precision_;
  std::deque<ddl::Buffer<float>> buffers_;
};

}  // namespace ddlrun::runtime
