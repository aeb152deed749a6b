// SPDX-License-Identifier: MIT
#include "ddl/core/rank_consistency.hpp"

#include "ddl/core/peer_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace ddl {
namespace {

std::vector<std::string> lines_of(const std::string& given) {
  std::vector<std::string> lines;
  std::istringstream text(printable(given));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string render_shared_options(const Options& options) {
  const std::string dims = options.dims.empty() ? "" : ":" + options.dims;
  return fmt::format("-mode {}{}\n-wire {}\n-nccl {}\n-dump_iter {}\n-rebind_iter {}\n",
                     static_cast<char>(options.mode), dims, name_of(options.wire.value_or(DataType::float32)),
                     options.nccl_levels ? "levels" : "all", options.dump_every, options.rebind_every);
}

std::optional<Error> find_other_options(const std::vector<std::string>& options,
                                        const std::vector<std::string>& names) {
  const auto other = std::find_if(options.begin(), options.end(),
                                  [&](const std::string& each) { return each != options.front(); });
  if (other == options.end()) return std::nullopt;
  const std::string& name = names[static_cast<std::size_t>(other - options.begin())];
  const std::vector<std::string> here = lines_of(options.front());
  const std::vector<std::string> there = lines_of(*other);
  std::string ours;
  std::string its;
  for (std::size_t i = 0; i < here.size() && i < there.size(); ++i) {
    if (here[i] == there[i]) continue;
    ours += " " + here[i];
    its += " " + there[i];
  }
  return Error(Fault::mismatch,
               fmt::format("{} was started with{}, {} with{}", name, its, names.front(), ours), name,
               "the same command line and DDL_OPTIONS on every rank (mpirun -x DDL_OPTIONS)");
}

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
    const auto first = lines_of(layouts[0]);
    const auto other = lines_of(layouts[rank]);
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
