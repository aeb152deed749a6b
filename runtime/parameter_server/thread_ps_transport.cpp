// SPDX-License-Identifier: MIT
#include "runtime/parameter_server/thread_ps_transport.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace ddlrun::runtime {

struct ThreadPost::Boxes {
  struct Parcel {
    int from;
    ParcelNote note;
    std::vector<float> body;
  };
  explicit Boxes(int size) : boxes(static_cast<std::size_t>(size)) {}

  void send(int to, Parcel parcel) {
    const std::lock_guard lock(mutex);
    boxes[static_cast<std::size_t>(to)].push_back(std::move(parcel));
    changed.notify_all();
  }

  // The oldest of `from`, or of anyone (-1).
  Parcel take(int of, int from) {
    std::unique_lock lock(mutex);
    for (;;) {
      if (closed)
        throw Error(ErrorKind::internal,
                    {"the post is closed", "a test", "look at the rank that failed first"});
      std::deque<Parcel>& box = boxes[static_cast<std::size_t>(of)];
      const auto found = std::find_if(box.begin(), box.end(),
                                      [&](const Parcel& one) { return from < 0 || one.from == from; });
      if (found != box.end()) {
        Parcel parcel = std::move(*found);
        box.erase(found);
        return parcel;
      }
      changed.wait(lock);
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::deque<Parcel>> boxes;
  bool closed = false;
};

class ThreadPost::Member : public Parcels {
 public:
  Member(Boxes& boxes, int rank) : boxes_(boxes), rank_(rank) {}
  int rank() const override { return rank_; }

  std::vector<ParcelNote> exchange(std::span<const int> servers, const ParcelNote& note,
                                   std::span<const std::span<const float>> gradients,
                                   std::span<const std::span<float>> weights) override {
    for (std::size_t i = 0; i < servers.size(); ++i)
      boxes_.send(servers[i], {rank_, note, {gradients[i].begin(), gradients[i].end()}});
    std::vector<ParcelNote> notes;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const auto parcel = boxes_.take(rank_, servers[i]);
      std::copy(parcel.body.begin(), parcel.body.end(), weights[i].begin());
      notes.push_back(parcel.note);
    }
    return notes;
  }

  Arrived receive(std::span<float> gradients, std::span<const std::size_t>) override {
    const auto parcel = boxes_.take(rank_, -1);
    std::copy(parcel.body.begin(), parcel.body.end(), gradients.begin());
    return {parcel.from, parcel.note};
  }

  void answer(int worker, const ParcelNote& note, std::span<const float> weights) override {
    boxes_.send(worker, {rank_, note, {weights.begin(), weights.end()}});
  }

 private:
  Boxes& boxes_;
  int rank_;
};

ThreadPost::ThreadPost(int size) : boxes_(std::make_unique<Boxes>(size)) {}
ThreadPost::~ThreadPost() = default;

std::unique_ptr<Parcels> ThreadPost::join(int rank) { return std::make_unique<Member>(*boxes_, rank); }

void ThreadPost::close() {
  const std::lock_guard lock(boxes_->mutex);
  boxes_->closed = true;
  boxes_->changed.notify_all();
}

}  // namespace ddlrun::runtime
