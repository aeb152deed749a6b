// SPDX-License-Identifier: MIT
#include "ddl/core/gather_strings.hpp"

#include "ddl/core/rounding.hpp"
#include "ddl/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace ddl {
namespace {

// Of all ranks together. More is not a text, or a rank that adds another number to the lengths.
constexpr std::int64_t max_gathered_bytes = std::int64_t{1} << 30;

// The sums come from the other ranks: a length of another rank must not move this rank's own text.
void check_text_lengths(std::span<const std::int32_t> lengths, std::size_t me, std::int32_t mine) {
  std::int64_t total = 0;
  bool is_negative = false;
  for (const std::int32_t length : lengths) {
    total += length;
    is_negative = is_negative || length < 0;
  }
  if (!is_negative && lengths[me] == mine && total <= max_gathered_bytes) return;
  if (lengths[me] == mine && !is_negative)
    throw Error(Fault::usage,
                fmt::format("texts of {} bytes over all ranks, at most {}", total, max_gathered_bytes),
                "gather", "all_gather or gather of a tensor, for data");
  throw Error(Fault::mismatch,
              fmt::format("the lengths of the ranks' texts are wrong: {} bytes for rank {}, which has {}",
                          lengths[me], me, mine),
              "gather", "the same program and the same libddl on all hosts");
}

}  // namespace

std::string name_rank(int rank, std::string_view host) { return fmt::format("rank {} ({})", rank, host); }

std::vector<std::string> gather_strings(const std::string& mine, int rank, int size,
                                        const std::function<void(const Tensor&)>& sum) {
  constexpr std::size_t word = sizeof(std::int32_t);
  const auto me = static_cast<std::size_t>(rank);
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(size));
  // One that is too long is refused below, on every rank.
  const auto length_of_mine = static_cast<std::int32_t>(
      std::min<std::size_t>(mine.size(), std::numeric_limits<std::int32_t>::max()));
  lengths[me] = length_of_mine;
  sum(tensor(std::span(lengths), "lengths of texts"));
  check_text_lengths(lengths, me, length_of_mine);
  std::vector<std::size_t> starts;
  std::size_t end = 0;
  for (const std::int32_t length : lengths) {
    starts.push_back(end);
    end += round_up(static_cast<std::size_t>(length), word) / word;
  }
  std::vector<std::int32_t> words(end);
  std::copy(mine.begin(), mine.end(), reinterpret_cast<char*>(words.data() + starts[me]));
  sum(tensor(std::span(words), "texts"));
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < starts.size(); ++r)
    texts.emplace_back(reinterpret_cast<const char*>(words.data() + starts[r]), lengths[r]);
  return texts;
}

}  // namespace ddl
