// SPDX-License-Identifier: MIT
#include "ddl/collectives/active_call.hpp"

#include "ddl/core/call_record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddl {
namespace {

constexpr unsigned part_bits = 16;

}  // namespace

// Allocations have numbers of their own: ranks of other hosts do not compare them.
void ActiveCallTracker::begin(const CallInfo& info, const Tensor& tensor, const RankGroup& group) {
  const OpType op = info.call.program.value_or(info.op);
  call_ = ActiveCall{op, info.call.sequence, &tensor, &group};
  if (is_allocation(op)) return;
  const std::uint64_t first_part = info.call.sequence << part_bits;
  const std::uint64_t sequence = last().group == &group && last().sequence >> part_bits == info.call.sequence
                                     ? last().sequence + 1
                                     : first_part;
  newest_ = (newest_ + 1) % past_.size();
  past_[newest_] = {sequence, record_of(info), &group};
}

void ActiveCallTracker::forget(const RankGroup& group) noexcept {
  for (PastCall& each : past_) {
    if (each.group == &group) each = {};
  }
}

CallSummary ActiveCallTracker::summary() const {
  if (!call_ || is_allocation(call_->op)) return {};
  return {last().sequence, last().record.signature,
          describe_call(last().record, call_->tensor->name) + call_->group->suffix(), call_->group->id};
}

CallSummary ActiveCallTracker::summary(std::uint64_t group, std::uint64_t sequence) const {
  const auto is_asked_for = [&](const PastCall& each) {
    return each.sequence == sequence && each.group != nullptr && each.group->id == group;
  };
  if (call_ && is_asked_for(last())) return summary();
  const auto found = std::find_if(past_.begin(), past_.end(), is_asked_for);
  if (sequence == 0 || found == past_.end()) return summary();
  return {sequence, found->record.signature, describe_call(found->record) + found->group->suffix(), group};
}

std::string ActiveCallTracker::name() const {
  if (!call_) return "this call";
  if (is_allocation(call_->op))
    return fmt::format("{} #{}", name_of(call_->op), call_->number) + call_->group->suffix();
  return summary().text;
}

StallWatch ActiveCallTracker::name_stalls(const StallWatch& watch) const {
  if (!watch.report) return {};
  return {watch.seconds, [this, report = watch.report](const Stall& stall) {
            Stall named = stall;
            if (call_) {
              if (named.call.empty())
                named.call = fmt::format("call #{}{}", call_->number, call_->group->suffix());
              named.tensor = call_->tensor->name;
            }
            report(named);
          }};
}

}  // namespace ddl
