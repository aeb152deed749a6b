// SPDX-License-Identifier: MIT
#include "runtime/telemetry/stall_inspector.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ddlrun::runtime {
namespace {

constexpr unsigned lane_bits = 4;

std::string name_missing(const std::vector<std::string>& missing) { return join_first(missing, 6); }

// "step 812 (bucket 2)"
std::string name_meeting(const ddl::Stall& stall, std::uint64_t step) {
  const std::string& what = stall.tensor.empty() ? stall.call : stall.tensor;
  return step == 0 ? what : fmt::format("step {} ({})", step, what);
}

// A process that somebody has stopped can be sent on.
std::string remedy(const ddl::Stall& stall) {
  const auto at = stall.seen.find("process ");
  if (at != std::string::npos && stall.seen.ends_with(" is stopped"))
    return "kill -CONT " + stall.seen.substr(at + 8, stall.seen.rfind(" is stopped") - at - 8) +
           "   # on its host";
  return "inspect it on its host (top, dmesg); --stall-timeout 0 disables this report";
}

}  // namespace

std::uint64_t pack_state(const RankState& state) {
  return state.step << lane_bits | (static_cast<std::uint64_t>(state.last) + 1);
}

RankState unpack_state(std::uint64_t number) {
  const std::uint64_t lane = number & ((1U << lane_bits) - 1);
  return {static_cast<TraceLane>(lane == 0 ? 0 : lane - 1), number >> lane_bits};
}

Message render_stall(const ddl::Stall& stall, std::uint64_t step) {
  const std::string who = name_missing(stall.missing);
  const bool one = stall.missing.size() == 1;
  if (stall.over) {
    return {fmt::format("{} {} reached {} after {:.0f} s", who, one ? "has" : "have",
                        name_meeting(stall, step), stall.seconds),
            "", "a larger --stall-timeout, if this is expected"};
  }
  std::string seen = stall.seen;
  if (stall.progress && *stall.progress != 0) {
    constexpr const char* lanes[] = {"compute", "sums", "input", "saving"};
    const RankState last = unpack_state(*stall.progress);
    const std::string place =
        fmt::format("{} of step {}", lanes[static_cast<std::size_t>(last.last) % 4], last.step);
    seen = place + (seen.empty() ? "" : "; " + seen);
  }
  if (!seen.empty()) seen = (one ? "last seen: " : stall.missing.front() + " last seen: ") + seen;
  return {fmt::format("{} {} not reached {} for {:.0f} s", who, one ? "has" : "have",
                      name_meeting(stall, step), stall.seconds),
          seen, remedy(stall)};
}

ddl::StallWatch StallInspector::watch(double seconds) {
  if (seconds <= 0.0) return {};
  return {seconds, [this](const ddl::Stall& stall) {
            const std::string text =
                render_message(program_, stall.over ? "note" : "warning", render_stall(stall, step_.load()));
            std::fwrite(text.data(), 1, text.size(), stderr);  // in one piece
            std::fflush(stderr);
          }};
}

void StallInspector::on_start(std::size_t, std::size_t first_step) {
  step_ = first_step + 1;
  at(TraceLane::compute);
}

void StallInspector::on_step(const StepRecord& record) {
  step_ = record.step + 1;
  at(TraceLane::compute);
}

void StallInspector::span(TraceLane lane, std::string_view, TraceClock::time_point, TraceClock::time_point,
                          std::uint64_t) {
  if (lane == TraceLane::compute || lane == TraceLane::saving) at(lane);  // the others go on beside it
}

void StallInspector::at(TraceLane lane) {
  if (show_) show_(pack_state({lane, step_.load(std::memory_order_relaxed)}));
}

}  // namespace ddlrun::runtime
