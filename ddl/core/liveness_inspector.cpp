// SPDX-License-Identifier: MIT
#include "ddl/core/liveness_inspector.hpp"

#include "ddl/core/fixed_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace ddl {
namespace {

using InspectorClock = std::chrono::steady_clock;
constexpr auto check_interval = std::chrono::milliseconds(2);
constexpr auto between_polls = std::chrono::microseconds(200);
constexpr std::size_t max_chain_shown = 5;  // ranks of a chain in a message

}  // namespace

LivenessInspector::LivenessInspector(std::unique_ptr<OobChannel> channel,
                                     std::function<std::string(int)> name_of, std::vector<int> neighbours,
                                     std::chrono::milliseconds patience)
    : channel_(std::move(channel)),
      name_of_(std::move(name_of)),
      neighbours_(std::move(neighbours)),
      patience_(patience) {}

void LivenessInspector::poll(std::span<const int> ranks) {
  awaited_.assign(ranks.begin(), ranks.end());
  const auto now = InspectorClock::now();
  if (now < next_check_) return;
  next_check_ = now + check_interval;
  answer_messages();
}

void LivenessInspector::answer_messages() {
  while (const auto received = channel_->take()) {
    const OobMessage& message = received->message;
    if (message.kind == OobMessage::Kind::question) {
      OobMessage answer;
      answer.kind = OobMessage::Kind::answer;
      answer.number = message.number;
      answer.waits_for = awaited_by(received->from);
      channel_->send(received->from, answer);
    } else if (message.kind == OobMessage::Kind::failure) {
      throw Error(static_cast<Fault>(message.fault), text_in(message.what), text_in(message.where),
                  text_in(message.hint));
    } else if (message.number == number_) {  // an older one was given up on
      answer_ = message.waits_for;
    }
  }
}

// A rank that asks also waits: where this rank waits for several, the one that asks is the least suspect, and
// its name would read as a deadlock of the two.
int LivenessInspector::awaited_by(int asker) const {
  const auto other = std::find_if(awaited_.begin(), awaited_.end(), [&](int rank) { return rank != asker; });
  return other != awaited_.end() ? *other : awaited_.empty() ? -1 : asker;
}

std::optional<int> LivenessInspector::ask(int rank) {
  OobMessage question;
  question.number = ++number_;
  answer_.reset();
  channel_->send(rank, question);
  const auto end = InspectorClock::now() + patience_;
  while (!answer_ && InspectorClock::now() < end) {
    std::this_thread::sleep_for(between_polls);
    answer_messages();
  }
  return answer_;
}

LivenessInspector::Unresponsive LivenessInspector::find_unresponsive(int rank) {
  if (std::find(awaited_.begin(), awaited_.end(), rank) == awaited_.end()) awaited_ = {rank};
  std::vector<int> chain{rank};
  while (true) {
    const auto next = ask(chain.back());
    if (!next) break;
    const bool known =
        *next < 0 || *next == channel_->rank() || std::find(chain.begin(), chain.end(), *next) != chain.end();
    if (*next >= 0) chain.push_back(*next);
    if (known) return {chain.back(), true, name_of_(chain.back()), render_chain(chain, true)};
  }
  unresponsive_ = chain.back();
  return {unresponsive_, false, name_of_(unresponsive_), render_chain(chain, false)};
}

std::string LivenessInspector::render_chain(const std::vector<int>& chain, bool deadlock) const {
  std::string text = fmt::format("{} waits for {}", name_of_(channel_->rank()), name_of_(chain.front()));
  const std::size_t skipped = chain.size() > max_chain_shown ? chain.size() - max_chain_shown : 0;
  if (skipped > 0) text += fmt::format(", which waits for {} more one after the other", skipped);
  for (std::size_t i = 1 + skipped; i < chain.size(); ++i)
    text += fmt::format(", which waits for {}", name_of_(chain[i]));
  return text + (deadlock ? ": they wait for each other" : ", which does not respond");
}

void LivenessInspector::report_failure(const Error& error) noexcept {
  if (failure_reported_) return;
  failure_reported_ = true;
  OobMessage message;
  message.kind = OobMessage::Kind::failure;
  message.fault = static_cast<std::uint32_t>(error.fault());
  store_text(message.what, error.what());
  store_text(message.where, error.where());
  store_text(message.hint, error.hint());
  for (const int rank : neighbours_) {
    if (rank != unresponsive_) channel_->send(rank, message);
  }
  channel_->abandon();
}

}  // namespace ddl
