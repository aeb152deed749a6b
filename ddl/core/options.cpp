// SPDX-License-Identifier: MIT
#include "ddl/core/checks.hpp"
#include "ddl/ddl.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace ddl {
namespace {

constexpr std::string_view known_modes = "brmnp";

Error bad_option(const std::string& what, const std::string& hint) {
  return {Fault::usage, what, "DDL options", hint};
}

std::uint64_t parse_every(const std::string& name, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw bad_option(fmt::format("{} must be a number from 0 on, not \"{}\"", name, text), name + " 100");
  return value;
}

// "b:4x2x1", "b", "r:2". The dims are judged where the ranks are known.
void take_mode(const std::string& text, Options& options) {
  if (text.empty() || known_modes.find(text[0]) == std::string_view::npos ||
      (text.size() > 1 && (text[1] != ':' || text.size() == 2))) {
    throw bad_option(
        fmt::format("-mode {}: the mode is one of b (best), n (NCCL), r (ring), m (MPI), p (explore), then "
                    "a colon and the dims",
                    text),
        "-mode b:4x2x1");
  }
  options.mode = static_cast<Mode>(text[0]);
  if (text.size() > 1) options.dims = text.substr(2);
}

void take_wire(const std::string& text, Options& options) {
  if (text == "float32" || text == "fp32")
    options.wire.reset();
  else if (text == "bfloat16" || text == "bf16")
    options.wire = DataType::bfloat16;
  else if (text == "float16" || text == "fp16")
    options.wire = DataType::float16;
  else
    throw bad_option(fmt::format("-wire {}: known are fp32, bf16, fp16", text), "-wire bf16");
}

void take_timeout(const std::string& text, Options& options) {
  const std::uint64_t seconds = parse_every("-timeout", text);
  if (seconds == 0 || seconds > max_timeout)
    throw bad_option(fmt::format("-timeout {}: 1 to {} seconds", text, max_timeout), "-timeout 30");
  options.timeout_seconds = static_cast<double>(seconds);
}

void take_dev_sync(const std::string& text, Options& options) {
  if (text != "0" && text != "1" && text != "2")
    throw bad_option(fmt::format("-dev_sync {}: 0 (none), 1 (before) or 2 (before and after)", text),
                     "-dev_sync 1");
  options.dev_sync = text[0] - '0';
}

void take_nccl(const std::string& text, Options& options) {
  if (text != "all" && text != "levels")
    throw bad_option(
        fmt::format("-nccl {}: all (one communicator) or levels (one for each of the dims)", text),
        "-nccl levels");
  options.nccl_levels = text == "levels";
}

}  // namespace

Options parse_options(const std::string& text, Options base) {
  std::istringstream words(text);
  std::string name;
  std::string value;
  while (words >> name) {
    if (!(words >> value))
      throw bad_option(fmt::format("{} has no value", name), "-mode b:4x2x1 -dev_sync 1");
    if (name == "-mode") {
      take_mode(value, base);
    } else if (name == "-dev_sync") {
      take_dev_sync(value, base);
    } else if (name == "-dump_iter") {
      base.dump_every = parse_every(name, value);
    } else if (name == "-rebind_iter") {
      base.rebind_every = parse_every(name, value);
    } else if (name == "-wire") {
      take_wire(value, base);
    } else if (name == "-nccl") {
      take_nccl(value, base);
    } else if (name == "-cache") {
      base.cache_dir = value == "off" ? "" : value;
    } else if (name == "-timeout") {
      take_timeout(value, base);
    } else {
      throw bad_option(fmt::format("unknown option {}", name),
                       "-mode, -dev_sync, -dump_iter, -rebind_iter, -wire, -nccl, -cache, -timeout");
    }
  }
  return base;
}

}  // namespace ddl
