// SPDX-License-Identifier: MIT
#include "topology/dims.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::topology {

namespace {

constexpr std::string_view axis_names[] = {"GPUs per node (X)", "nodes per rack (Y)", "racks (Z)",
                                           "aisles (A)"};

[[noreturn]] void refuse_dims(std::string_view text, std::string what) {
  // 4X2, 4*2 and 4,2 are clear enough to be given back as they should be.
  std::string meant(text.substr(0, 60));
  for (char& c : meant) c = c == 'X' || c == '*' || c == ',' ? 'x' : c;
  const bool only_signs = meant != text && meant.find_first_not_of("0123456789x") == std::string::npos;
  throw Error(ErrorKind::usage,
              {std::move(what), fmt::format("dims '{}'", printable(text, 60)),
               only_signs ? meant : "4x2x3 = 4 GPUs per node x 2 nodes per rack x 3 racks"});
}

// "b:4x2x1" -> "4x2x1"; the letters are DDL's -mode: best, NCCL, ring, MPI, explore.
std::string_view strip_mode_letter(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return text;
  const bool known = colon == 1 && std::string_view("bnrmp").find(text[0]) != std::string_view::npos;
  if (!known) {
    refuse_dims(text, fmt::format("'{}' is not a mode letter (b, n, r, m or p)",
                                  printable(text.substr(0, colon), 20)));
  }
  return text.substr(colon + 1);
}

}  // namespace

std::uint32_t Dims::host_of(const Coordinates& at) const {
  return (at.a * racks + at.z) * nodes_per_rack + at.y;
}

Coordinates Dims::coordinates(std::uint32_t host, std::uint32_t local_rank) const {
  const std::uint32_t rack = host / nodes_per_rack;
  return {local_rank, host % nodes_per_rack, rack % racks, rack / racks};
}

std::uint32_t Dims::rank_of(const Coordinates& at, RankOrder order) const {
  if (order == RankOrder::packed) return host_of(at) * gpus_per_node + at.x;
  return ((at.x * nodes_per_rack + at.y) * racks + at.z) * aisles + at.a;
}

bool is_dims_word(std::string_view word) {
  return word.find_first_not_of("0123456789xX") == std::string_view::npos;
}

Dims parse_dims(std::string_view text) {
  const std::string_view shape = strip_mode_letter(text);
  const auto words = split(shape, 'x');
  if (words.size() > 4) refuse_dims(text, fmt::format("{} factors, at most 4 are known", words.size()));
  std::array<std::uint32_t, 4> factor{1, 1, 1, 1};
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = parse_unsigned(words[i]);
    if (!value || *value < 1 || *value > max_ranks) {
      refuse_dims(text, fmt::format("{} is '{}', not a number from 1 to {}", axis_names[i],
                                    printable(words[i], 30), max_ranks));
    }
    factor[i] = static_cast<std::uint32_t>(*value);
    product *= *value;
    if (product > max_ranks) refuse_dims(text, fmt::format("more than {} ranks in all", max_ranks));
  }
  return {factor[0], factor[1], factor[2], factor[3]};
}

std::string render_dims(const Dims& dims) {
  std::string text = fmt::format("{}x{}x{}", dims.gpus_per_node, dims.nodes_per_rack, dims.racks);
  if (dims.aisles > 1) text += fmt::format("x{}", dims.aisles);
  return text;
}

std::vector<std::string> nearest_shapes(const Dims& dims, std::size_t hosts) {
  std::vector<std::string> shapes;
  const auto add = [&](std::uint64_t nodes, std::uint64_t racks) {
    if (nodes == 0 || racks == 0 || nodes * racks * dims.gpus_per_node > max_ranks) return;
    Dims shape = dims;
    shape.nodes_per_rack = static_cast<std::uint32_t>(nodes);
    shape.racks = static_cast<std::uint32_t>(racks);
    shape.aisles = 1;
    const std::string text = render_dims(shape);
    if (std::find(shapes.begin(), shapes.end(), text) == shapes.end()) shapes.push_back(text);
  };
  if (hosts % dims.nodes_per_rack == 0) add(dims.nodes_per_rack, hosts / dims.nodes_per_rack);
  if (hosts % dims.racks == 0) add(hosts / dims.racks, dims.racks);
  add(hosts, 1);
  if (shapes.size() > 2) shapes.resize(2);
  return shapes;
}

}  // namespace ddlrun::topology
