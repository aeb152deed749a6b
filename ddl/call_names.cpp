// SPDX-License-Identifier: MIT
// Collectives' names for the call that is under way: for who waits in it, and for wires that find another
// one.
#include "ddl/collectives.hpp"
#include "ddl/occasion_note.hpp"

#include <fmt/format.h>

namespace ddl {

// While it is: "all_reduce #812 of 4096 float32 "conv1"".
std::string Collectives::name_call() const {
  if (!under_way_) return "this one";
  std::string text = fmt::format("{} #{}", name_of(under_way_->verb), under_way_->number);
  if (!has_numbers(under_way_->verb)) return text;
  const Tensor& tensor = *under_way_->tensor;
  if (tensor.count != 0) text += fmt::format(" of {} {}", tensor.count, name_of(tensor.type));
  return tensor.name.empty() ? text : fmt::format("{} \"{}\"", text, tensor.name);
}

// What waits knows who is missing; the call's name is known here.
StallWatch Collectives::stall_watch() {
  if (!options_.stall.tell) return {};
  return {options_.stall.seconds, [this](const Stall& stall) {
            Stall named = stall;
            if (under_way_) {
              if (named.call.empty()) named.call = fmt::format("call #{}", under_way_->number);
              named.tensor = under_way_->tensor->name;
            }
            options_.stall.tell(named);
          }};
}

}  // namespace ddl
