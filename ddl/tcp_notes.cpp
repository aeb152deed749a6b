// SPDX-License-Identifier: MIT
#include "ddl/tcp_notes.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <unordered_map>

namespace ddl {
namespace {

constexpr int most_hops = 16;
constexpr auto time_to_tell_why = std::chrono::milliseconds(100);

struct Letter {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t hops = 0;
  Note note;
};
static_assert(std::is_trivially_copyable_v<Letter>);

class TcpNotes : public NoteBox {
 public:
  explicit TcpNotes(TcpMesh& mesh) : mesh_(mesh) {}

  int rank() const override { return mesh_.rank(); }

  // Who gives up tells all whom it is connected to: they see its end and would blame it.
  void send(int to, const Note& note) override {
    if (note.kind != Note::Kind::verdict) return post({mesh_.rank(), to, 0, note});
    if (std::exchange(told_all_, true)) return;
    for (const auto& [rank, link] : mesh_.links()) post({mesh_.rank(), rank, 0, note});
  }

  std::optional<Received> take() override {
    mesh_.progress(std::chrono::milliseconds(0));
    for (const auto& [rank, link] : mesh_.links()) {
      while (auto text = link->take(channel::notes)) {
        if (auto received = open(rank, text->text)) return received;
      }
    }
    look_for_the_lost();
    return std::nullopt;
  }

 private:
  void post(const Letter& letter) {
    TcpLink* link = find_way(letter.to);
    if (link != nullptr)
      link->send_copy(channel::notes, 0, {reinterpret_cast<const char*>(&letter), sizeof(letter)});
  }

  TcpLink* find_way(int to) {
    for (int hops = 0; hops < most_hops; ++hops) {
      if (TcpLink* link = mesh_.link_to(to)) return link;
      const auto next = known_by_.find(to);
      if (next == known_by_.end()) return nullptr;
      to = next->second;
    }
    return nullptr;
  }

  // What is for another rank goes on.
  std::optional<Received> open(int carrier, const std::string& text) {
    Letter letter;
    if (text.size() != sizeof(letter)) return std::nullopt;
    std::memcpy(&letter, text.data(), sizeof(letter));
    if (letter.from != carrier) known_by_[letter.from] = carrier;
    if (letter.note.kind == Note::Kind::answer && letter.note.whom >= 0)
      known_by_[letter.note.whom] = letter.from;
    if (letter.to == mesh_.rank()) return Received{letter.from, letter.note};
    if (++letter.hops < most_hops) post(letter);
    return std::nullopt;
  }

  void look_for_the_lost() {
    const int lost = mesh_.find_lost();
    if (lost < 0) return;
    const auto now = TcpClock::now();
    if (!lost_since_) lost_since_ = now;
    if (now - *lost_since_ >= time_to_tell_why) throw mesh_.lost(lost);
  }

  TcpMesh& mesh_;
  bool told_all_ = false;
  std::unordered_map<int, int> known_by_;  // of ranks to which there is no connection: who has one, or knows
  std::optional<TcpClock::time_point> lost_since_;
};

}  // namespace

std::unique_ptr<NoteBox> make_tcp_notes(TcpMesh& mesh) { return std::make_unique<TcpNotes>(mesh); }

}  // namespace ddl
