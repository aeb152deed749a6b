// SPDX-License-Identifier: MIT
#include "ddl/gpu_told.hpp"

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

std::string render_told(const GpuTold& told) {
  std::string text = one_line(told.obstacle) + one_line(told.where) + one_line(told.hint) +
                     one_line(told.card) + one_line(told.name);
  for (const std::string& id : told.ids) text += id + '\n';
  return text;
}

GpuTold parse_told(const std::string& text) {
  std::istringstream lines(text);
  GpuTold told;
  for (std::string* line : {&told.obstacle, &told.where, &told.hint, &told.card, &told.name})
    std::getline(lines, *line);
  for (std::string id; std::getline(lines, id);) told.ids.push_back(id);
  return told;
}

std::optional<Error> find_gpu_obstacle(const std::vector<GpuTold>& told, const Grid& grid) {
  for (std::size_t i = 0; i < told.size(); ++i) {
    const std::string name = grid.name_of(static_cast<int>(i));
    if (!told[i].obstacle.empty())
      return Error(Fault::unsupported, fmt::format("{}: {}", name, told[i].obstacle), told[i].where,
                   told[i].hint);
    for (std::size_t j = 0; j < i; ++j) {
      if (grid.host_of[i] != grid.host_of[j] || told[i].card != told[j].card) continue;
      return Error(Fault::unsupported,
                   fmt::format("{} and {} use the same GPU ({}), and NCCL needs one for each rank",
                               grid.name_of(static_cast<int>(j)), name, told[i].name),
                   name,
                   "as many ranks per host as it has GPUs; cudaSetDevice(local_rank) before anything else");
    }
  }
  return std::nullopt;
}

}  // namespace ddl
