// SPDX-License-Identifier: MIT
#include "runtime/comm/ddl_communicator.hpp"

#include <algorithm>

namespace ddlrun::runtime {
namespace {

template <typename Work>
auto converting(const Work& work) {
  try {
    return work();
  } catch (const ddl::Error& error) {
    throw convert_error(error);
  }
}

}  // namespace

Error convert_error(const ddl::Error& error) {
  const ErrorKind kind = error.fault() == ddl::Fault::usage ? ErrorKind::usage : ErrorKind::request;
  return {kind, {error.what(), error.where(), error.hint()}};
}

// libddl adds in the order of ranks and hosts, whatever the length. A ring begins somewhere else for each
// piece, MPI as it likes, and what travels in one message is not narrowed.
DdlCommunicator::DdlCommunicator(ddl::Context& context, const ddl::Options& options)
    : context_(context),
      chunk_invariant_sums_((options.mode == ddl::Mode::best && !options.wire) || context.size() == 1),
      reduces_precision_(options.wire && context.local_size() < context.size()) {}

std::span<float> DdlCommunicator::allocate(std::size_t count) {
  return converting([&] { return buffers_.emplace_back(context_.allocate<float>(count)).values(); });
}

std::span<float> DdlCommunicator::allocate_host_shared(std::size_t count) {
  return converting(
      [&] { return buffers_.emplace_back(context_.allocate_for_host<float>(count)).values(); });
}

void DdlCommunicator::all_reduce_sum(std::span<const float> in, std::span<float> out) {
  if (!reduces_precision_) {
    std::copy(in.begin(), in.end(), out.begin());
    return all_reduce_sum(out, "");
  }
  std::vector<double> wide(in.begin(), in.end());  // only float32 is narrowed
  converting([&] { context_.all_reduce(ddl::tensor(std::span(wide)), ddl::Operation::sum); });
  std::transform(wide.begin(), wide.end(), out.begin(), [](double sum) { return static_cast<float>(sum); });
}

void DdlCommunicator::all_reduce_sum(std::span<float> data, std::string_view name) {
  converting([&] { context_.all_reduce(ddl::tensor(data, std::string(name)), ddl::Operation::sum); });
}

void DdlCommunicator::all_reduce_update(std::span<float> data, std::string_view name, const ApplySums& use) {
  converting([&] {
    context_.all_reduce_update(ddl::tensor(data, std::string(name)), ddl::Operation::sum,
                               [&](std::size_t first, std::size_t count, const std::byte* sums) {
                                 use(first, {reinterpret_cast<const float*>(sums), count});
                               });
  });
}

void DdlCommunicator::broadcast(std::span<float> data) {
  converting([&] { context_.broadcast(ddl::tensor(data), 0); });
}

std::vector<std::string> DdlCommunicator::gather_all(const std::string& mine) {
  return converting([&] { return context_.gather(mine); });
}

}  // namespace ddlrun::runtime
