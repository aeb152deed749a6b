// SPDX-License-Identifier: MIT
#include "runtime/checkpoint/unsaved_steps.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {

void UnsavedSteps::on_start(std::size_t total_steps, std::size_t first_step) {
  total_ = total_steps;
  trained_ = saved_ = first_step;  // a resumed run begins with a state that is saved
}

void UnsavedSteps::on_checkpoint(const CheckpointRecord& record) {
  if (!record.problem.empty()) return;
  saved_ = record.step;
  saves_here_ = true;
}

std::optional<Message> UnsavedSteps::describe() const {
  if (trained_ <= saved_) return std::nullopt;
  const std::string end = fmt::format("the run ends after step {} of {}", trained_, total_);
  if (saved_ == 0)
    return Message{end + "; nothing was saved", printable(directory_),
                   "--checkpoint-every N   # saves every N steps, not only after each epoch"};
  return Message{fmt::format("{}; nothing was saved since step {}", end, saved_), printable(directory_),
                 saves_here_ ? fmt::format("{}   # goes on from step {}", resume_command_, saved_)
                             : fmt::format("the same command again   # goes on from step {}", saved_)};
}

}  // namespace ddlrun::runtime
