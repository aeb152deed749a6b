// SPDX-License-Identifier: MIT
#include "ddl/core/gather_strings.hpp"

#include "ddl/core/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace ddl {

std::string name_rank(int rank, std::string_view host) { return fmt::format("rank {} ({})", rank, host); }

std::vector<std::string> gather_strings(const std::string& mine, int rank, int size,
                                        const std::function<void(const Tensor&)>& sum) {
  constexpr std::size_t word = sizeof(std::int32_t);
  const auto me = static_cast<std::size_t>(rank);
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(size));
  lengths[me] = static_cast<std::int32_t>(mine.size());
  sum(tensor(std::span(lengths), "lengths of texts"));
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
