// SPDX-License-Identifier: MIT
// Collectives' names for the call that is under way: for who waits in it, and for wires that find another
// one.
#include "ddl/collectives.hpp"

#include <fmt/format.h>

namespace ddl {

// While it is: "all_reduce #812 of 4096 float32 "conv1"".
std::string Collectives::name_call() const {
  constexpr const char* names[] = {"all_reduce", "all_reduce_n",   "all_reduce_update",
                                   "broadcast",  "reduce_scatter", "all_gather",
                                   "barrier"};
  if (!under_way_) return "this one";
  std::string text =
      fmt::format("{} #{}", names[static_cast<std::size_t>(under_way_->task)], under_way_->number);
  const Tensor* const tensor = under_way_->tensor;
  if (tensor == nullptr) return text;
  text += fmt::format(" of {} {}", tensor->count, name_of(tensor->type));
  return tensor->name.empty() ? text : fmt::format("{} \"{}\"", text, tensor->name);
}

// What waits knows who is missing; the call's name is known here.
StallWatch Collectives::stall_watch() {
  if (!options_.stall.tell) return {};
  return {options_.stall.seconds, [this](const Stall& stall) {
            Stall named = stall;
            if (named.call.empty()) named.call = call_;
            named.tensor = tensor_;
            options_.stall.tell(named);
          }};
}

}  // namespace ddl
