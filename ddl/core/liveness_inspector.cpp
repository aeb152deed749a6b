// SPDX-License-Identifier: MIT
#include "ddl/core/liveness_inspector.hpp"

#include "ddl/core/fixed_text.hpp"
#include "ddl/core/peer_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace ddl {
namespace {

using InspectorClock = std::chrono::steady_clock;
constexpr auto check_interval = std::chrono::milliseconds(2);
constexpr auto between_polls = std::chrono::microseconds(200);
constexpr std::size_t max_chain_shown = 5;  // ranks of a chain in a message
// Its last messages may still be on their way.
constexpr auto grace_after_end = std::chrono::milliseconds(1000);
constexpr auto time_to_flush = std::chrono::milliseconds(100);
constexpr auto compare_calls_after = std::chrono::milliseconds(1000);

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
  check_awaited(now);
}

void LivenessInspector::check_awaited(TimePoint now) {
  if (awaited_.empty() || awaited_.front() < 0 || !calls_.current) return;
  const int rank = awaited_.front();
  const CallSummary mine = calls_.current();
  if (mine.sequence == 0) return;
  if (rank != wait_.rank || mine.sequence != wait_.sequence || mine.group != wait_.group) {
    wait_ = {rank, mine.group, mine.sequence, now, 0};
    call_answer_.reset();
  }
  const auto ended = ended_.find({rank, mine.group});
  if (ended != ended_.end() && now - std::max(ended->second.since, wait_.since) >= grace_after_end)
    throw make_end_error(ended->second.how, name_of_(rank), 1, mine.text);
  if (wait_.question == 0 && now - wait_.since >= compare_calls_after) ask_for_call(rank, mine);
  if (call_answer_ && call_answer_->group == mine.group && call_answer_->sequence == mine.sequence &&
      call_answer_->signature != mine.signature)
    throw different_calls(rank, call_answer_->text, mine);
}

void LivenessInspector::ask_for_call(int rank, const CallSummary& mine) {
  OobMessage question;
  question.kind = OobMessage::Kind::call_question;
  question.number = wait_.question = ++number_;
  question.group = mine.group;
  question.sequence = mine.sequence;
  channel_->send(rank, question);
}

void LivenessInspector::answer_call_question(int from, const OobMessage& question) {
  if (!calls_.find) return;
  const CallSummary call = calls_.find(question.group, question.sequence);
  OobMessage answer;
  answer.kind = OobMessage::Kind::call_answer;
  answer.number = question.number;
  answer.group = call.group;
  answer.sequence = call.sequence;
  answer.signature = call.signature;
  store_text(answer.what, call.text);
  channel_->send(from, answer);
}

// The higher rank first, so that both ranks have the same words.
Error LivenessInspector::different_calls(int rank, const std::string& its_call,
                                         const CallSummary& mine) const {
  const std::string it = name_of_(rank);
  const std::string me = name_of_(channel_->rank());
  const std::string hint = same_calls_hint;
  if (its_call.empty())
    return {Fault::mismatch, fmt::format("{} makes another call than {}, which calls {}", it, me, mine.text),
            it, hint};
  return {Fault::mismatch,
          rank > channel_->rank() ? describe_difference(it, its_call, me, mine.text)
                                  : describe_difference(me, mine.text, it, its_call),
          rank > channel_->rank() ? it + ", " + me : me + ", " + it, hint};
}

Error LivenessInspector::mismatch(int rank) {
  const CallSummary mine = calls_.current ? calls_.current() : CallSummary{};
  call_answer_.reset();
  ask_for_call(rank, mine);
  const auto end = InspectorClock::now() + patience_;
  while (!call_answer_ && InspectorClock::now() < end) {
    std::this_thread::sleep_for(between_polls);
    answer_messages();
  }
  return different_calls(rank, call_answer_ ? call_answer_->text : "", mine);
}

void LivenessInspector::report_end(std::span<const int> ranks, ContextEnd how, std::uint64_t group) noexcept {
  if (failure_reported_) return;
  OobMessage message;
  message.kind = OobMessage::Kind::end;
  message.number = static_cast<std::uint32_t>(how);
  message.group = group;
  for (const int rank : ranks) channel_->send(rank, message);
}

bool LivenessInspector::has_exited(int rank) const {
  return std::any_of(ended_.begin(), ended_.end(), [&](const auto& each) {
    return each.first.first == rank && each.second.how == ContextEnd::by_exit;
  });
}

void LivenessInspector::flush() noexcept {
  const auto end = InspectorClock::now() + time_to_flush;
  try {
    for (; InspectorClock::now() < end; std::this_thread::sleep_for(between_polls)) answer_messages();
  } catch (const Error&) {  // another rank has given up: there is nothing left to report
  }
}

void LivenessInspector::answer_messages() {
  while (const auto received = channel_->take()) {
    const OobMessage& message = received->message;
    if (message.kind == OobMessage::Kind::question) {
      answer_question(received->from, message.number);
    } else if (message.kind == OobMessage::Kind::failure) {
      throw error_of_peer(message.fault, text_in(message.what), text_in(message.where),
                          text_in(message.hint));
    } else if (message.kind == OobMessage::Kind::call_question) {
      answer_call_question(received->from, message);
    } else if (message.kind == OobMessage::Kind::call_answer) {
      if (message.number == wait_.question)
        call_answer_ = CallSummary{message.sequence, message.signature, printable(text_in(message.what)),
                                   message.group};
    } else if (message.kind == OobMessage::Kind::end) {
      ended_.emplace(std::pair(received->from, message.group),
                     End{static_cast<ContextEnd>(message.number), InspectorClock::now()});
    } else if (message.number == number_) {  // an older one was given up on
      const bool is_elsewhere = calls_.current && calls_.current().group != message.group;
      answer_ = Answer{message.waits_for, is_elsewhere ? printable(text_in(message.what)) : ""};
    }
  }
}

void LivenessInspector::answer_question(int from, std::uint32_t number) {
  OobMessage answer;
  answer.kind = OobMessage::Kind::answer;
  answer.number = number;
  answer.waits_for = awaited_by(from);
  if (calls_.current) {
    const CallSummary call = calls_.current();
    answer.group = call.group;
    store_text(answer.what, call.text);
  }
  channel_->send(from, answer);
}

// A rank that asks also waits: where this rank waits for several, the one that asks is the least suspect, and
// its name would read as a deadlock of the two.
int LivenessInspector::awaited_by(int asker) const {
  const auto other = std::find_if(awaited_.begin(), awaited_.end(), [&](int rank) { return rank != asker; });
  return other != awaited_.end() ? *other : awaited_.empty() ? -1 : asker;
}

std::optional<LivenessInspector::Answer> LivenessInspector::ask(int rank) {
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
  std::vector<Link> chain{{rank, ""}};
  while (true) {
    const auto answer = ask(chain.back().rank);
    if (!answer) break;
    const int next = answer->waits_for;
    const bool known =
        next < 0 || next == channel_->rank() ||
        std::any_of(chain.begin(), chain.end(), [&](const Link& each) { return each.rank == next; });
    if (next >= 0) chain.push_back({next, answer->other_call});
    if (known) return {chain.back().rank, true, name_of_(chain.back().rank), render_chain(chain, true)};
  }
  unresponsive_ = chain.back().rank;
  return {unresponsive_, false, name_of_(unresponsive_), render_chain(chain, false)};
}

std::string LivenessInspector::render_chain(const std::vector<Link>& chain, bool deadlock) const {
  std::string text = fmt::format("{} waits for {}", name_of_(channel_->rank()), name_of_(chain.front().rank));
  const std::size_t skipped = chain.size() > max_chain_shown ? chain.size() - max_chain_shown : 0;
  if (skipped > 0) text += fmt::format(", which waits for {} more one after the other", skipped);
  for (std::size_t i = 1 + skipped; i < chain.size(); ++i)
    text +=
        fmt::format(", which waits{} for {}", chain[i].other_call.empty() ? "" : " in " + chain[i].other_call,
                    name_of_(chain[i].rank));
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
