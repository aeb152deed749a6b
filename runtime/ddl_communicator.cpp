// SPDX-License-Identifier: MIT
#include "runtime/ddl_communicator.hpp"

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

std::span<float> DdlCommunicator::allocate(std::size_t count) {
  return converting([&] { return buffers_.emplace_back(context_.allocate<float>(count)).values(); });
}

void DdlCommunicator::all_reduce_sum(std::span<const float> in, std::span<float> out) {
  std::copy(in.begin(), in.end(), out.begin());
  all_reduce_sum(out);
}

void DdlCommunicator::all_reduce_sum(std::span<float> data) {
  converting([&] { context_.all_reduce(ddl::tensor(data), ddl::Operation::sum); });
}

void DdlCommunicator::broadcast(std::span<float> data) {
  converting([&] { context_.broadcast(ddl::tensor(data), 0); });
}

std::vector<std::string> DdlCommunicator::gather_all(const std::string& mine) {
  return converting([&] { return context_.gather(mine); });
}

}  // namespace ddlrun::runtime
