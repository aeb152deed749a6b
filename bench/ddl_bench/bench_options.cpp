// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/bench_options.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ddlrun::ddl_bench {
namespace {

constexpr std::size_t largest_size = std::size_t{16} << 30U;
constexpr std::string_view default_sizes = "4:256M";

struct BenchOption {
  std::string_view name;
  std::string_view value;  // "": a flag
  std::string_view help;
};

constexpr BenchOption bench_options[] = {
    {"--sizes", "SIZES", "4:256M (default; each four times the last) or a list like 64k,1M"},
    {"--backends", "LIST",
     "of ddl,ddl-private,ddl-bf16,ddl-ring,mpi,gloo,nccl,oneccl (default: all that fit this run, without "
     "oneccl)"},
    {"--seconds", "S", "for each size and backend (default 0.3); 5 turns at least"},
    {"--type", "TYPE", "float32 (default), float64, float16, bfloat16, int32, int64, uint8"},
    {"--json", "FILE", "also write a JSON document; -: to stdout, instead of the table"},
    {"--check", "", "compare all elements after every turn, not only in the first round"},
    {"--one-copy", "", "also the sum with its use once a host (ddl-update), and once a rank (ddl-each)"},
    {"--gloo-interface", "NAME", "the network interface of Gloo between hosts (default: the host's name)"},
    {"--help", "", "this text"},
    {"--version", "", "the version"},
};

[[noreturn]] void refuse_option(const std::string& what, const std::string& where, const std::string& hint) {
  throw Error(ErrorKind::usage, {what, where, hint});
}

std::optional<std::size_t> parse_size(std::string_view text) {
  std::size_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K':
        unit = std::size_t{1} << 10U;
        break;
      case 'M':
        unit = std::size_t{1} << 20U;
        break;
      case 'G':
        unit = std::size_t{1} << 30U;
        break;
      default:
        break;
    }
  }
  if (unit > 1) text.remove_suffix(1);
  const auto number = parse_unsigned(text, largest_size / unit);
  if (!number || *number == 0) return std::nullopt;
  return static_cast<std::size_t>(*number) * unit;
}

std::size_t checked_size(std::string_view text, std::size_t unit) {
  const auto size = parse_size(text);
  if (!size)
    refuse_option(fmt::format("'{}' is no size from {} to 16G", printable(text, 40), unit), "--sizes",
                  "--sizes 64k,1M   # bytes, with k, M or G; or --sizes 4:256M");
  if (*size % unit != 0)
    refuse_option(fmt::format("{} bytes are no whole number of elements of {} bytes", *size, unit), "--sizes",
                  fmt::format("--sizes {}", (*size + unit - 1) / unit * unit));
  return *size;
}

double parse_bench_seconds(const std::string& text) {
  const auto value = parse_number(text);
  if (!value || *value <= 0.0 || *value > 3600.0)
    refuse_option(fmt::format("'{}' is no time from 0 to 3600 seconds", printable(text, 40)), "--seconds",
                  "--seconds 0.3");
  return *value;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ddl::data_types; ++i)
    names.emplace_back(ddl::name_of(static_cast<ddl::DataType>(i)));
  return names;
}

ddl::DataType parse_bench_type(const std::string& text) {
  const std::vector<std::string> names = type_names();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<ddl::DataType>(found - names.begin());
  refuse_option(fmt::format("unknown type '{}'", printable(text, 40)), "--type",
                "--type " + closest_match(text, names).value_or("float32") + "   # of " + join(names, ", "));
}

std::vector<std::string> parse_backends(const std::string& text) {
  std::vector<std::string> backends;
  for (const std::string_view backend : split(text, ',')) {
    const std::vector<std::string>& known = known_backends();
    if (std::find(known.begin(), known.end(), backend) == known.end())
      refuse_option(
          fmt::format("'{}' is not a backend", printable(backend, 40)), "--backends",
          "--backends " + closest_match(backend, known).value_or("ddl,mpi") + "   # of " + join(known, ","));
    backends.emplace_back(backend);
  }
  return backends;
}

const BenchOption& find_bench_option(const std::string& name) {
  std::vector<std::string> names;
  for (const BenchOption& option : bench_options) {
    if (option.name == name) return option;
    names.emplace_back(option.name);
  }
  const auto meant = closest_match(name, names);
  refuse_option(fmt::format("unknown option '{}'{}", printable(name, 40),
                            meant ? fmt::format(", did you mean {}?", *meant) : ""),
                "command line", "ddl-bench allreduce --help");
}

void set_bench_option(BenchOptions& options, std::string_view name, const std::string& value) {
  if (name == "--backends") options.backends = parse_backends(value);
  if (name == "--seconds") options.seconds = parse_bench_seconds(value);
  if (name == "--type") options.type = parse_bench_type(value);
  if (name == "--json") options.json = value;
  if (name == "--check") options.check = true;
  if (name == "--one-copy") options.one_copy = true;
  if (name == "--gloo-interface") options.gloo_interface = value;
  if (name == "--help") options.help = true;
  if (name == "--version") options.version = true;
}

}  // namespace

const std::vector<std::string>& known_backends() {
  static const std::vector<std::string> names = {"ddl",        "ddl-private", "ddl-bf16", "ddl-ring",
                                                 "ddl-update", "ddl-each",    "mpi",      "gloo",
                                                 "nccl",       "oneccl"};
  return names;
}

bool BenchOptions::names(const std::string& backend) const {
  return std::find(backends.begin(), backends.end(), backend) != backends.end();
}

std::vector<std::size_t> parse_sizes(std::string_view text, std::size_t unit) {
  std::vector<std::size_t> sizes;
  for (const std::string_view part : split(text, ',')) {
    const auto colon = part.find(':');
    if (colon == std::string_view::npos) {
      sizes.push_back(checked_size(part, unit));
      continue;
    }
    const std::size_t first = checked_size(part.substr(0, colon), unit);
    const std::size_t last = checked_size(part.substr(colon + 1), unit);
    if (first > last)
      refuse_option(fmt::format("sizes from {} up to {}: the first is larger", first, last), "--sizes",
                    fmt::format("--sizes {}:{}", render_size(last), render_size(first)));
    for (std::size_t size = first; size <= last; size *= 4) sizes.push_back(size);
  }
  return sizes;
}

std::string render_size(std::size_t bytes) {
  constexpr std::string_view units = "kMG";
  std::string unit;
  for (std::size_t i = 0; i < units.size() && bytes % 1024 == 0 && bytes > 0; ++i) {
    bytes /= 1024;
    unit = units[i];
  }
  return fmt::format("{}{}", bytes, unit);
}

BenchOptions parse_bench_options(std::span<const std::string> words) {
  BenchOptions options;
  std::string sizes(default_sizes);
  bool sizes_given = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const BenchOption& option = find_bench_option(name);
    if (option.value.empty()) {
      if (equals != std::string::npos) refuse_option(name + " takes no value", printable(word, 60), name);
      set_bench_option(options, option.name, "");
      continue;
    }
    const bool inside = equals != std::string::npos;
    const std::string value =
        inside ? word.substr(equals + 1) : (i + 1 < words.size() ? words[++i] : std::string());
    if (value.empty())
      refuse_option(name + " needs a value", "command line", fmt::format("{} {}", name, option.value));
    if (name == "--sizes") {
      sizes = value;
      sizes_given = true;
    }
    set_bench_option(options, option.name, value);
  }
  const std::size_t unit = ddl::size_of(options.type);
  options.sizes = parse_sizes(sizes_given || unit <= 4 ? sizes : "16:256M", unit);
  return options;
}

std::string render_bench_help() {
  std::string text =
      "usage: mpirun -n 2 ddl-bench allreduce [OPTIONS]     (or: ddlrun bench allreduce 2)\n\n"
      "Times sums over all ranks: libddl beside MPI_Allreduce and Gloo, in turns within each size, against\n"
      "what memory and network could do at most, measured in the same run.\n\n";
  for (const BenchOption& option : bench_options)
    text += fmt::format("  {:<24}{}\n", fmt::format("{} {}", option.name, option.value), option.help);
  text +=
      "\nColumns as in nccl-tests: algbw = bytes / time, busbw = algbw x 2(n-1)/n, both from the fastest "
      "turn;\na turn's time is that of its slowest rank. \"x MPI\": how many times faster than "
      "MPI_Allreduce, "
      "in place or\nout of place, whichever was faster.\n";
  return text;
}

CommandReference describe_bench() {
  CommandReference bench;
  bench.name = "ddl-bench";
  bench.summary = "measure sums over ranks: libddl beside MPI_Allreduce and Gloo";
  bench.usage =
      "mpirun -n RANKS ddl-bench allreduce [OPTIONS]\nddlrun bench allreduce [DIMS] [HOSTS] [-- OPTIONS]";
  bench.description = {
      "Times sums over all ranks: libddl beside MPI_Allreduce and Gloo, in turns within each size, against "
      "what memory "
      "and network could do at most, measured in the same run."};
  bench.examples = "  mpirun -n 2 ddl-bench allreduce --sizes 64k:64M --json sums.json";
  OptionReference command;
  command.names = {"allreduce"};
  command.choices = {"allreduce"};
  command.values = 1;
  bench.arguments = {command};
  for (const BenchOption& row : bench_options) {
    OptionReference option;
    option.names = {std::string(row.name)};
    option.value = row.value;
    option.help = row.help;
    option.group = "Options";
    option.source = source_of_value(row.value);
    option.values = row.value.empty() ? 0 : 1;
    if (row.name == "--backends") option.choices = known_backends();
    if (row.name == "--type") option.choices = type_names();
    bench.options.push_back(std::move(option));
  }
  return bench;
}

}  // namespace ddlrun::ddl_bench
