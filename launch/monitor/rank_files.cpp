// SPDX-License-Identifier: MIT
#include "launch/monitor/rank_files.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddlrun::launch {

namespace {

constexpr std::size_t most_last_lines = 20;
constexpr std::uint64_t last_bytes = 64 << 10;

}  // namespace

std::string rank_file_directory(const std::string& directory) { return directory + "/out"; }

std::string rank_file(const std::string& directory, std::uint32_t rank, RankStream stream) {
  return fmt::format("{}/rank-{:04}.{}", rank_file_directory(directory), rank,
                     stream == RankStream::out ? "out" : "err");
}

std::vector<std::string> read_last_lines(System& system, const std::string& path) {
  const auto whole = system.files.read_from(path, 0, 0);
  if (!whole || whole->size == 0) return {};
  const std::uint64_t from = whole->size > last_bytes ? whole->size - last_bytes : 0;
  const auto part = system.files.read_from(path, from, last_bytes);
  std::vector<std::string_view> lines = split(part ? std::string_view(part->bytes) : "", '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (from > 0 && lines.size() > 1) lines.erase(lines.begin());  // cut in the middle
  const std::size_t shown = std::min(lines.size(), most_last_lines);
  return {lines.end() - static_cast<long>(shown), lines.end()};
}

std::string render_quoted(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  | " + printable(line, 400) + "\n";
  return text;
}

std::string render_last_lines(System& system, const std::string& directory, std::uint32_t rank) {
  const std::string path = rank_file(directory, rank, RankStream::err);
  const std::vector<std::string> lines = read_last_lines(system, path);
  if (lines.empty()) return {};
  return fmt::format("ddlrun: the last {} line{} of rank {}'s stderr, {}:\n{}", lines.size(),
                     lines.size() == 1 ? "" : "s", rank, path, render_quoted(lines));
}

}  // namespace ddlrun::launch
