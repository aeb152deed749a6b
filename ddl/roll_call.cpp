// SPDX-License-Identifier: MIT
#include "ddl/roll_call.hpp"

#include "ddl/fixed_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace ddl {
namespace {

using RollClock = std::chrono::steady_clock;
constexpr auto between_looks = std::chrono::milliseconds(2);
constexpr auto between_polls = std::chrono::microseconds(200);
constexpr std::size_t most_told = 5;  // ranks of a chain in a message

}  // namespace

RollCall::RollCall(std::unique_ptr<NoteBox> box, std::function<std::string(int)> name_of,
                   std::vector<int> neighbours, std::chrono::milliseconds patience)
    : box_(std::move(box)),
      name_of_(std::move(name_of)),
      neighbours_(std::move(neighbours)),
      patience_(patience) {}

void RollCall::wait_for(int rank) {
  waits_for_ = rank;
  const auto now = RollClock::now();
  if (now < next_look_) return;
  next_look_ = now + between_looks;
  serve();
}

void RollCall::serve() {
  while (const auto received = box_->take()) {
    const Note& note = received->note;
    if (note.kind == Note::Kind::question) {
      Note answer;
      answer.kind = Note::Kind::answer;
      answer.number = note.number;
      answer.whom = waits_for_;
      box_->send(received->from, answer);
    } else if (note.kind == Note::Kind::verdict) {
      throw Error(static_cast<Fault>(note.fault), text_in(note.what), text_in(note.where),
                  text_in(note.hint));
    } else if (note.number == number_) {  // an older one was given up on
      answer_ = note.whom;
    }
  }
}

std::optional<int> RollCall::ask(int rank) {
  Note question;
  question.number = ++number_;
  answer_.reset();
  box_->send(rank, question);
  const auto end = RollClock::now() + patience_;
  while (!answer_ && RollClock::now() < end) {
    std::this_thread::sleep_for(between_polls);
    serve();
  }
  return answer_;
}

RollCall::Silence RollCall::find_silent(int rank) {
  waits_for_ = rank;
  std::vector<int> way{rank};
  while (true) {
    const auto next = ask(way.back());
    if (!next) break;
    const bool known =
        *next < 0 || *next == box_->rank() || std::find(way.begin(), way.end(), *next) != way.end();
    if (*next >= 0) way.push_back(*next);
    if (known) return {way.back(), true, name_of_(way.back()), render_way(way, true)};
  }
  silent_ = way.back();
  return {silent_, false, name_of_(silent_), render_way(way, false)};
}

std::string RollCall::render_way(const std::vector<int>& way, bool circle) const {
  std::string text = fmt::format("{} waits for {}", name_of_(box_->rank()), name_of_(way.front()));
  const std::size_t skipped = way.size() > most_told ? way.size() - most_told : 0;
  if (skipped > 0) text += fmt::format(", which waits for {} more one after the other", skipped);
  for (std::size_t i = 1 + skipped; i < way.size(); ++i)
    text += fmt::format(", which waits for {}", name_of_(way[i]));
  return text + (circle ? ": they wait for each other" : ", which answers nobody");
}

void RollCall::give_up(const Error& error) noexcept {
  if (given_up_) return;
  given_up_ = true;
  Note note;
  note.kind = Note::Kind::verdict;
  note.fault = static_cast<std::uint32_t>(error.fault());
  keep_text(note.what, error.what());
  keep_text(note.where, error.where());
  keep_text(note.hint, error.hint());
  for (const int rank : neighbours_) {
    if (rank != silent_) box_->send(rank, note);
  }
  box_->abandon();
}

}  // namespace ddl
