// SPDX-License-Identifier: MIT
// Times and sizes as the two schedulers write them.
#include "base/text/text.hpp"
#include "schedulers/scripts/request.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

constexpr std::uint64_t longest = 10ull * 366 * 86400;

std::optional<std::vector<std::uint64_t>> read_numbers(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  for (const std::string_view part : split(text, ':')) {
    const auto number = parse_unsigned(part, longest);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::uint64_t> scaled(std::string_view digits, unsigned shift) {
  const auto number = parse_unsigned(digits, UINT64_MAX >> shift);
  if (!number) return std::nullopt;
  return *number << shift;
}

}  // namespace

std::string directive_text(const Directive& directive) {
  const bool plain = std::ranges::all_of(directive.value, [](char c) {
    return c > ' ' && c < 0x7f && std::string_view("\"'`\\$#").find(c) == std::string_view::npos;
  });
  if (!plain || directive.option.empty()) return {};
  if (directive.value.empty()) return directive.option;
  return directive.option + (directive.option.starts_with("--") ? "=" : " ") + directive.value;
}

std::optional<std::uint64_t> parse_pbs_time(std::string_view text) {
  const std::string_view whole = text.substr(0, text.find('.'));
  const auto numbers = read_numbers(whole);
  if (!numbers || numbers->size() > 3) return std::nullopt;
  std::uint64_t seconds = 0;
  for (const std::uint64_t number : *numbers) seconds = seconds * 60 + number;
  return seconds;
}

std::optional<std::uint64_t> parse_slurm_time(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto days = parse_unsigned(text.substr(0, dash), 3660);
    auto rest = read_numbers(text.substr(dash + 1));
    if (!days || !rest || rest->size() > 3) return std::nullopt;
    rest->resize(3);
    return *days * 86400 + (*rest)[0] * 3600 + (*rest)[1] * 60 + (*rest)[2];
  }
  const auto numbers = read_numbers(text);
  if (!numbers || numbers->size() > 3) return std::nullopt;
  const auto& n = *numbers;
  if (n.size() == 1) return n[0] * 60;
  if (n.size() == 2) return n[0] * 60 + n[1];
  return n[0] * 3600 + n[1] * 60 + n[2];
}

std::string render_time(std::uint64_t seconds) {
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::optional<std::uint64_t> parse_pbs_size(std::string_view text) {
  const std::string word = to_lower(text);
  std::string_view digits = word;
  unsigned shift = 0;
  if (digits.ends_with('b')) {
    digits.remove_suffix(1);
  } else if (digits.ends_with('w')) {
    digits.remove_suffix(1);
    shift = 3;
  }
  static constexpr std::string_view units = "kmgtp";
  if (!digits.empty() && units.find(digits.back()) != std::string_view::npos) {
    shift += 10 * static_cast<unsigned>(units.find(digits.back()) + 1);
    digits.remove_suffix(1);
  }
  return scaled(digits, shift);
}

std::optional<std::uint64_t> parse_slurm_size(std::string_view text) {
  const std::string word = to_lower(text);
  std::string_view digits = word;
  if (digits.ends_with('b')) digits.remove_suffix(1);
  static constexpr std::string_view units = "kmgt";
  unsigned shift = 20;
  if (!digits.empty() && units.find(digits.back()) != std::string_view::npos) {
    shift = 10 * static_cast<unsigned>(units.find(digits.back()) + 1);
    digits.remove_suffix(1);
  }
  return scaled(digits, shift);
}

std::uint64_t node_count(const ResourceRequest& request) {
  std::uint64_t nodes = 0;
  for (const Chunk& chunk : request.chunks) nodes += chunk.nodes;
  return nodes;
}

std::uint64_t task_count(const ResourceRequest& request) {
  if (request.total_tasks > 0) return request.total_tasks;
  std::uint64_t tasks = 0;
  for (const Chunk& chunk : request.chunks) tasks += chunk.nodes * (chunk.tasks == 0 ? 1 : chunk.tasks);
  return tasks;
}

std::uint64_t core_count(const ResourceRequest& request) {
  std::uint64_t cores = 0;
  for (const Chunk& chunk : request.chunks)
    cores += chunk.nodes * std::max({std::uint64_t{1}, chunk.cores, chunk.tasks});
  return cores;
}

bool has_unlike_chunks(const ResourceRequest& request) {
  const auto shape = [](Chunk chunk) {
    chunk.nodes = 1;
    chunk.host.clear();
    chunk.tasks = chunk.tasks == 0 ? 1 : chunk.tasks;
    return chunk;
  };
  return std::any_of(request.chunks.begin(), request.chunks.end(),
                     [&](const Chunk& chunk) { return shape(chunk) != shape(request.chunks.front()); });
}

ResourceRequest read_request(const JobScript& script) {
  if (script.dialect == Dialect::slurm) return read_slurm_request(script);
  if (script.dialect == Dialect::pbs) return read_pbs_request(script);
  return {};
}

}  // namespace ddlrun::job_scripts
