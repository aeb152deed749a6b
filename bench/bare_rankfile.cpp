// SPDX-License-Identifier: MIT
// The peer of `gen-rankfile 8x1024x128`: the least program that writes the same rank lines, one fmt call
// each.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

namespace {

int digits(std::uint32_t value) {
  int count = 1;
  for (; value >= 10; value /= 10) ++count;
  return count;
}

}  // namespace

int main() {
  constexpr std::uint32_t x_count = 8, y_count = 1024, z_count = 128;
  fmt::memory_buffer text;
  for (std::uint32_t z = 0; z < z_count; ++z)
    for (std::uint32_t y = 0; y < y_count; ++y) {
      for (std::uint32_t x = 0; x < x_count; ++x) {
        const std::uint32_t rank = (x * y_count + y) * z_count + z;
        fmt::format_to(std::back_inserter(text), "rank {0}=n{1:06}{2:>{3}}slot={4}:{5}-{6}\n", rank,
                       z * y_count + y + 1, "", 12 - digits(rank), x / 4, x % 4 * 16, x % 4 * 16 + 15);
      }
      text.append(std::string_view(y + 1 == y_count ? "\n\n" : "\n"));
    }
  const char* next = text.data();
  for (std::size_t left = text.size(); left > 0;) {
    const ssize_t n = ::write(STDOUT_FILENO, next, left);
    if (n <= 0) return 1;
    next += n;
    left -= static_cast<std::size_t>(n);
  }
}
