// SPDX-License-Identifier: MIT
#include "ddl/collectives/active_call.hpp"

#include "ddl/core/call_record.hpp"

#include <fmt/format.h>

namespace ddl {

std::string ActiveCallTracker::name() const {
  if (!call_) return "this call";
  std::string text = fmt::format("{} #{}", name_of(call_->op), call_->number);
  if (!has_numbers(call_->op)) return text;
  const Tensor& tensor = *call_->tensor;
  if (tensor.count != 0) text += fmt::format(" of {} {}", tensor.count, name_of(tensor.type));
  return tensor.name.empty() ? text : fmt::format("{} \"{}\"", text, tensor.name);
}

StallWatch ActiveCallTracker::name_stalls(const StallWatch& watch) const {
  if (!watch.report) return {};
  return {watch.seconds, [this, report = watch.report](const Stall& stall) {
            Stall named = stall;
            if (call_) {
              if (named.call.empty()) named.call = fmt::format("call #{}", call_->number);
              named.tensor = call_->tensor->name;
            }
            report(named);
          }};
}

}  // namespace ddl
