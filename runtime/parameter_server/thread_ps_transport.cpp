// SPDX-License-Identifier: MIT
#include "runtime/parameter_server/thread_ps_transport.hpp"

#include "base/text/error.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace ddlrun::runtime {

struct ThreadPsNetwork::Mailboxes {
  struct PsMessage {
    int from;
    PushPullHeader header;
    std::vector<float> body;
  };
  explicit Mailboxes(int size) : boxes(static_cast<std::size_t>(size)) {}

  void send(int to, PsMessage message) {
    const std::lock_guard lock(mutex);
    boxes[static_cast<std::size_t>(to)].push_back(std::move(message));
    changed.notify_all();
  }

  // The oldest of `from`, or of anyone (-1).
  PsMessage take(int of, int from) {
    std::unique_lock lock(mutex);
    for (;;) {
      if (closed)
        throw Error(ErrorKind::internal,
                    {"the transport is closed", "a test", "see the messages of the rank that failed first"});
      std::deque<PsMessage>& box = boxes[static_cast<std::size_t>(of)];
      const auto found = std::find_if(box.begin(), box.end(),
                                      [&](const PsMessage& one) { return from < 0 || one.from == from; });
      if (found != box.end()) {
        PsMessage message = std::move(*found);
        box.erase(found);
        return message;
      }
      changed.wait(lock);
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::deque<PsMessage>> boxes;
  bool closed = false;
};

class ThreadPsNetwork::Member : public PsTransport {
 public:
  Member(Mailboxes& boxes, int rank) : mailboxes_(boxes), rank_(rank) {}
  int rank() const override { return rank_; }

  std::vector<PushPullHeader> exchange(std::span<const int> servers, const PushPullHeader& header,
                                       std::span<const std::span<const float>> gradients,
                                       std::span<const std::span<float>> weights) override {
    for (std::size_t i = 0; i < servers.size(); ++i)
      mailboxes_.send(servers[i], {rank_, header, {gradients[i].begin(), gradients[i].end()}});
    std::vector<PushPullHeader> notes;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const auto message = mailboxes_.take(rank_, servers[i]);
      std::copy(message.body.begin(), message.body.end(), weights[i].begin());
      notes.push_back(message.header);
    }
    return notes;
  }

  Received receive(std::span<float> gradients, std::span<const std::size_t>) override {
    const auto message = mailboxes_.take(rank_, -1);
    std::copy(message.body.begin(), message.body.end(), gradients.begin());
    return {message.from, message.header};
  }

  void reply(int worker, const PushPullHeader& header, std::span<const float> weights) override {
    mailboxes_.send(worker, {rank_, header, {weights.begin(), weights.end()}});
  }

 private:
  Mailboxes& mailboxes_;
  int rank_;
};

ThreadPsNetwork::ThreadPsNetwork(int size) : mailboxes_(std::make_unique<Mailboxes>(size)) {}
ThreadPsNetwork::~ThreadPsNetwork() = default;

std::unique_ptr<PsTransport> ThreadPsNetwork::join(int rank) {
  return std::make_unique<Member>(*mailboxes_, rank);
}

void ThreadPsNetwork::close() {
  const std::lock_guard lock(mailboxes_->mutex);
  mailboxes_->closed = true;
  mailboxes_->changed.notify_all();
}

}  // namespace ddlrun::runtime
