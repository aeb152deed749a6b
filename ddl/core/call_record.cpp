// SPDX-License-Identifier: MIT
#include "ddl/core/call_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddl {

std::string_view name_of(OpType op) {
  constexpr std::string_view names[] = {"the start",  "barrier",    "broadcast",    "reduce_scatter",
                                        "all_gather", "all_reduce", "all_reduce_n", "all_reduce_update",
                                        "gather",     "agree",      "allocate"};
  return names[static_cast<std::size_t>(op) % std::size(names)];
}

bool has_numbers(OpType op) { return op >= OpType::broadcast && op <= OpType::all_reduce_update; }

CallRecord record_of(const CallInfo& info) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 52) - 1;
  return {info.call.sequence, info.call.signature,
          std::min<std::uint64_t>(info.count, most) | std::uint64_t{info.detail & 15U} << 52 |
              static_cast<std::uint64_t>(info.type) << 56 |
              static_cast<std::uint64_t>(info.call.program.value_or(info.op)) << 60};
}

std::string render_record(const CallRecord& record, std::string_view tensor) {
  const auto op = static_cast<OpType>(record.what >> 60);
  std::string text(name_of(op));
  if (op == OpType::start) return text;
  text += fmt::format(" #{}", record.sequence);
  if (!has_numbers(op)) return text;
  text += fmt::format(" of {} {}", record.what & ((std::uint64_t{1} << 52) - 1),
                      name_of(static_cast<DataType>(record.what >> 56 & 15U)));
  return tensor.empty() ? text : fmt::format("{} \"{}\"", text, tensor);
}

std::string describe_difference(const std::string& odd, const std::string& odd_call, const std::string& first,
                                const std::string& first_call) {
  return odd_call == first_call ? fmt::format("{} and {} both call {}, but with other tensors or operations",
                                              odd, first, odd_call)
                                : fmt::format("{} calls {}, {} calls {}", odd, odd_call, first, first_call);
}

}  // namespace ddl
