// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/gpu_communicator.hpp"

#include "runtime/core/range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace ddlrun::runtime {
namespace {

// Its number differs with what a rank sees: "(NVIDIA H200, 0000:3b:00.0)" does not.
std::string_view card_of(const RankGpu& gpu) {
  const std::string_view name = gpu.name;
  return name.substr(std::min(name.find('('), name.size()));
}

}  // namespace

GpuCommunicator::Cut GpuCommunicator::cut(std::span<float> data) const {
  const std::less<> before;
  const float* begin = summed_.data();
  const float* end = begin + summed_.size();
  if (summed_.empty() || !before(begin, data.data() + data.size()) || !before(data.data(), end))
    return {data, {}};
  const std::size_t own = before(data.data(), begin) ? static_cast<std::size_t>(begin - data.data()) : 0;
  return {data.first(own), data.subspan(own)};
}

void GpuCommunicator::all_reduce_sum(std::span<float> data, std::string_view name) {
  const Cut parts = cut(data);
  if (!parts.own.empty()) ranks_.all_reduce_sum(parts.own, name);
}

// The sums first: the call behind it returns when all of the host are done.
void GpuCommunicator::all_reduce_update(std::span<float> data, std::string_view name, const ApplySums& use) {
  const Cut parts = cut(data);
  if (!parts.summed.empty()) {
    const Range share = even_chunk(parts.summed.size(), static_cast<std::size_t>(local_rank()),
                                   static_cast<std::size_t>(local_size()));
    use(parts.own.size() + share.begin, parts.summed.subspan(share.begin, share.end - share.begin));
  }
  if (!parts.own.empty()) {
    ranks_.all_reduce_update(parts.own, name, use);
    return;
  }
  float nothing = 0.0F;
  ranks_.all_reduce_sum(std::span(&nothing, 1), name);
}

int choose_gpu(int local_rank, int visible) { return visible == 1 ? 0 : local_rank; }

std::string find_nccl_obstacle(const std::vector<RankGpu>& gpus) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (!gpus[i].has_nccl) return fmt::format("rank {} ({}): NCCL is missing", i, gpus[i].host);
    for (std::size_t j = 0; j < i; ++j) {
      if (gpus[i].host == gpus[j].host && card_of(gpus[i]) == card_of(gpus[j]))
        return fmt::format("ranks {} and {} share {} of {}", j, i, gpus[i].name, gpus[i].host);
    }
  }
  return "";
}

}  // namespace ddlrun::runtime
