// SPDX-License-Identifier: MIT
#include "ddl/agreement.hpp"

#include <fmt/format.h>

#include <sstream>

namespace ddl {
namespace {

std::vector<std::string> layout_lines(const std::string& layout) {
  std::vector<std::string> lines;
  std::istringstream text(layout);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string render_layout(std::span<const Tensor> tensors) {
  std::string text;
  for (const Tensor& each : tensors)
    text += fmt::format("\"{}\" of {} {}{}\n", each.name, each.count, name_of(each.type),
                        each.memory == Memory::device ? " on a GPU" : "");
  return text;
}

std::optional<Error> find_difference(const std::vector<std::string>& layouts,
                                     const std::vector<std::string>& names) {
  for (std::size_t rank = 1; rank < layouts.size(); ++rank) {
    if (layouts[rank] == layouts[0]) continue;
    const auto first = layout_lines(layouts[0]);
    const auto other = layout_lines(layouts[rank]);
    std::size_t i = 0;
    while (i < first.size() && i < other.size() && first[i] == other[i]) ++i;
    const auto tensor_at = [&](const std::vector<std::string>& lines) {
      return i < lines.size() ? lines[i] : std::string("none");
    };
    return Error(
        Fault::mismatch,
        fmt::format("tensor {} is {} on {} and {} on {} ({} tensors here, {} there)", i, tensor_at(first),
                    names[0], tensor_at(other), names[rank], first.size(), other.size()),
        names[rank], "start the same program with the same net on every rank");
  }
  return std::nullopt;
}

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return seed;
}

std::uint64_t hash_numbers(std::span<const std::uint64_t> numbers) {
  return hash_text({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
}

}  // namespace ddl
