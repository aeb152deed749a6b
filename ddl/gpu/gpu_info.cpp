// SPDX-License-Identifier: MIT
#include "ddl/gpu/gpu_info.hpp"

#include "ddl/core/peer_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace ddl {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + '\n';
}

}  // namespace

std::string render_gpu_info(const GpuInfo& info) {
  std::string text = one_line(info.obstacle) + one_line(info.where) + one_line(info.hint) +
                     one_line(info.uuid) + one_line(info.name) + one_line(info.nccl_host);
  for (const std::string& id : info.ids) text += id + '\n';
  return text;
}

GpuInfo parse_gpu_info(const std::string& text) {
  std::istringstream lines(printable(text));
  GpuInfo info;
  for (std::string* line : {&info.obstacle, &info.where, &info.hint, &info.uuid, &info.name, &info.nccl_host})
    std::getline(lines, *line);
  for (std::string id; std::getline(lines, id);) info.ids.push_back(id);
  return info;
}

std::optional<Error> find_gpu_obstacle(const std::vector<GpuInfo>& info, const Grid& grid) {
  for (std::size_t i = 0; i < info.size(); ++i) {
    const std::string name = grid.name_of(static_cast<int>(i));
    if (!info[i].obstacle.empty())
      return Error(Fault::unsupported, fmt::format("{}: {}", name, info[i].obstacle), info[i].where,
                   info[i].hint);
    for (std::size_t j = 0; j < i; ++j) {
      const bool one_host = grid.host_of[i] == grid.host_of[j] && info[i].nccl_host == info[j].nccl_host;
      if (!one_host || info[i].uuid != info[j].uuid) continue;
      return Error(Fault::unsupported,
                   fmt::format("{} and {} use the same GPU ({}), and NCCL needs one for each rank",
                               grid.name_of(static_cast<int>(j)), name, info[i].name),
                   name,
                   "as many ranks per host as it has GPUs; cudaSetDevice(local_rank) before anything else");
    }
  }
  return std::nullopt;
}

}  // namespace ddl
