// SPDX-License-Identifier: MIT
#include "ddl/core/call_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddl {

namespace {

// what: count | detail | type | op, from the lowest bit.
constexpr unsigned detail_at = 40;
constexpr unsigned type_at = 56;
constexpr unsigned op_at = 60;
constexpr std::uint64_t most_count = (std::uint64_t{1} << detail_at) - 1;
constexpr std::uint64_t most_detail = 0xffff;

OpType op_of(const CallRecord& record) { return static_cast<OpType>(record.what >> op_at); }

std::string render_detail(const CallRecord& record) {
  const std::uint64_t detail = record.what >> detail_at & most_detail;
  switch (op_of(record)) {
    case OpType::broadcast:
    case OpType::scatter:
    case OpType::gather_tensor:
      return fmt::format(" (root {})", detail);
    case OpType::reduce:
      if ((detail & 7U) >= operations) return "";
      return fmt::format(" ({}, root {})", name_of(static_cast<Operation>(detail & 7U)), detail >> 3U);
    case OpType::reduce_scatter:
    case OpType::all_reduce:
    case OpType::all_reduce_n:
    case OpType::all_reduce_update:
      return detail < operations ? fmt::format(" ({})", name_of(static_cast<Operation>(detail))) : "";
    default:
      return "";
  }
}

std::string render_call(const CallRecord& record, const std::string& detail, std::string_view tensor) {
  const OpType op = op_of(record);
  if (op == OpType::start) return std::string(name_of(op));
  std::string text = fmt::format("{} #{}{}", name_of(op), record.sequence, detail);
  const std::uint64_t count = record.what & most_count;
  if (is_allocation(op)) return text + fmt::format(" of {} bytes", count);
  if (!has_numbers(op)) return text;
  text += fmt::format(" of {} {}", count, name_of(static_cast<DataType>(record.what >> type_at & 15U)));
  return tensor.empty() ? text : fmt::format("{} \"{}\"", text, tensor);
}

}  // namespace

OddCall find_odd_call(std::span<const CallRecord> calls) {
  OddCall found{0, 0};
  std::ptrdiff_t most = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::ptrdiff_t same = std::count(calls.begin(), calls.end(), calls[i]);
    if (same > most) found.usual = i;
    most = std::max(most, same);
  }
  while (found.odd + 1 < calls.size() && calls[found.odd] == calls[found.usual]) ++found.odd;
  return found;
}

std::string_view name_of(OpType op) {
  constexpr std::string_view names[] = {"the start",  "barrier",        "broadcast",    "reduce_scatter",
                                        "all_gather", "all_reduce",     "all_reduce_n", "all_reduce_update",
                                        "gather",     "verify_tensors", "allocate",     "allocate_for_host",
                                        "reduce",     "scatter",        "gather",       "split"};
  return names[static_cast<std::size_t>(op) % std::size(names)];
}

bool has_numbers(OpType op) {
  return (op >= OpType::broadcast && op <= OpType::all_reduce_update) ||
         (op >= OpType::reduce && op <= OpType::gather_tensor);
}

bool is_allocation(OpType op) { return op == OpType::allocate || op == OpType::allocate_for_host; }

CallRecord record_of(const CallInfo& info) {
  const std::uint64_t detail = info.call.program ? info.call.detail : info.detail;
  return {info.call.sequence, info.call.signature,
          std::min<std::uint64_t>(info.count, most_count) | detail << detail_at |
              static_cast<std::uint64_t>(info.type) << type_at |
              static_cast<std::uint64_t>(info.call.program.value_or(info.op)) << op_at};
}

std::string render_record(const CallRecord& record, std::string_view tensor) {
  return render_call(record, "", tensor);
}

std::string describe_call(const CallRecord& record, std::string_view tensor) {
  return render_call(record, render_detail(record), tensor);
}

std::string describe_difference(const std::string& odd, const std::string& odd_call, const std::string& first,
                                const std::string& first_call) {
  return odd_call == first_call
             ? fmt::format("{} and {} both call {}, but with other tensors or other memory", odd, first,
                           odd_call)
             : fmt::format("{} calls {}, {} calls {}", odd, odd_call, first, first_call);
}

}  // namespace ddl
