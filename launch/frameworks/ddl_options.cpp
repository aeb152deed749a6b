// SPDX-License-Identifier: MIT
#include "launch/frameworks/ddl_options.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::frameworks {

namespace {

constexpr std::string_view ddl_letters = "bnrpmc";

struct DdlRange {
  std::string_view name;
  std::uint64_t most;
  std::string_view meaning;
};
constexpr std::array<DdlRange, 4> ddl_ranges{{
    {"-dev_sync", 2, "0 never, 1 before, 2 before and after"},
    {"-dbg_level", 2, "log level"},
    {"-dump_iter", UINT32_MAX, "every so many iterations"},
    {"-rebind_iter", UINT32_MAX, "every so many iterations"},
}};
constexpr std::array<std::string_view, 4> libddl_only{"-wire", "-nccl", "-cache", "-timeout"};

[[noreturn]] void refuse_ddl(const std::string& what, const std::string& place) {
  throw Error(ErrorKind::usage, {what, place, R"("-mode b:4x2x1 -dev_sync 1")"});
}

std::vector<std::string> blank_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

void take_ddl_mode(const std::string& value, const std::string& place, DdlOptions& options) {
  const std::size_t colon = value.find(':');
  if (colon != 1 || ddl_letters.find(value[0]) == std::string_view::npos) {
    refuse_ddl(
        fmt::format("-mode {}: a letter (b NCCL improved, n NCCL, r ring, p explore, m MPI, c RCS), a colon "
                    "and the dims",
                    printable(value, 40)),
        place);
  }
  options.letter = value[0];
  options.dims_text = value.substr(2);
  if (value.size() == 2) refuse_ddl(fmt::format("-mode {} has no dims", value), place);
  try {
    options.dims = topology::parse_dims(options.dims_text);
  } catch (const Error& error) {
    refuse_ddl(fmt::format("-mode {}: {}", printable(value, 40), error.message().what), place);
  }
}

void check_range(const std::string& name, const std::string& value, const std::string& place) {
  const auto range = std::ranges::find(ddl_ranges, std::string_view(name), &DdlRange::name);
  if (range == ddl_ranges.end() || parse_unsigned(value, range->most)) return;
  refuse_ddl(fmt::format("{} {}: a number from 0 to {} ({})", name, printable(value, 40), range->most,
                         range->meaning),
             place);
}

bool is_known_option(const std::string& name) {
  return std::ranges::find(ddl_ranges, std::string_view(name), &DdlRange::name) != ddl_ranges.end() ||
         std::ranges::find(libddl_only, name) != libddl_only.end();
}

std::string right_string(const DdlOptions& options, const topology::Dims& dims, const std::string& place) {
  const std::string text = fmt::format("\"{}\"", render_ddl_options(options, dims));
  return place == "-ddl" ? "-ddl " + text : fmt::format("-x DDL_OPTIONS={}", text);
}

// A shape with the mode's own X, for a job without known dims.
topology::Dims shape_of(const DdlJob& job) {
  if (job.dims) return *job.dims;
  topology::Dims dims;
  dims.gpus_per_node = std::max(1u, job.ranks_of_host);
  dims.nodes_per_rack = std::max(1u, job.ranks / dims.gpus_per_node);
  return dims;
}

}  // namespace

DdlOptions parse_ddl_options(std::string_view text, const std::string& place) {
  DdlOptions options;
  const std::vector<std::string> words = blank_words(text);
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string& name = words[i];
    if (!name.starts_with('-'))
      refuse_ddl(fmt::format("'{}' is no option of DDL", printable(name, 40)), place);
    if (i + 1 == words.size()) refuse_ddl(fmt::format("{} has no value", printable(name, 40)), place);
    if (name == "-mode") {
      take_ddl_mode(words[i + 1], place, options);
      continue;
    }
    check_range(name, words[i + 1], place);
    if (!is_known_option(name)) options.unknown.push_back(name);
    options.others.push_back(name);
    options.others.push_back(words[i + 1]);
  }
  return options;
}

std::string render_ddl_options(const DdlOptions& options, const topology::Dims& dims) {
  std::string text =
      fmt::format("-mode {}:{}", options.letter == 0 ? 'b' : options.letter, topology::render_dims(dims));
  for (const std::string& word : options.others) text += " " + word;
  return text;
}

std::vector<std::string> check_ddl_options(const DdlOptions& options, const DdlJob& job,
                                           const std::string& place) {
  std::vector<std::string> remarks;
  const topology::Dims shape = shape_of(job);
  for (const std::string& name : options.unknown)
    remarks.push_back(
        fmt::format("{} {} is passed on; no document of DDL names it", place, printable(name, 40)));
  if (!job.dims && job.ranks_of_host > 0 && job.ranks % job.ranks_of_host != 0) {
    throw Error(ErrorKind::request,
                {fmt::format("DDL needs the same number of ranks on each host: one has {}, all together {}",
                             job.ranks_of_host, job.ranks),
                 place, "the same count for each host, -H h1:4,h2:4"});
  }
  if (!options.dims) {
    remarks.push_back(
        fmt::format("{} without -mode is one ring over all {} ranks (r:{}); {} gives DDL the hosts", place,
                    job.ranks, job.ranks, right_string(options, shape, place)));
    return remarks;
  }
  const topology::Dims& mode = *options.dims;
  const std::string typed = fmt::format("-mode {}:{}", options.letter, options.dims_text);
  if (mode.world_size() != job.ranks) {
    throw Error(ErrorKind::request, {fmt::format("{} is for {} ranks, the job has {} ({})", typed,
                                                 mode.world_size(), job.ranks, topology::render_dims(shape)),
                                     place, right_string(options, shape, place)});
  }
  const bool same = job.dims ? mode == *job.dims : mode.gpus_per_node == shape.gpus_per_node;
  if (!same) {
    throw Error(
        ErrorKind::request,
        {fmt::format("{} and the plan {} number the same {} ranks differently", typed,
                     topology::render_dims(shape), job.ranks),
         place, right_string(options, shape, place) + ", or ddlrun launch " + topology::render_dims(mode)});
  }
  if (options.letter == 'm')
    remarks.push_back(
        fmt::format("{} -mode m: DDL's documents call it disabled; b serves everywhere", place));
  return remarks;
}

}  // namespace ddlrun::frameworks
