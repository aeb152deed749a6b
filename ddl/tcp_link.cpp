// SPDX-License-Identifier: MIT
#include "ddl/tcp_link.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ddl {
namespace {

constexpr std::size_t dropped_at_once = 64 << 10;
constexpr std::size_t most_unasked_bytes = 64 << 20;  // then the other side has to wait
constexpr std::uint64_t most_text_bytes = 256 << 20;  // a text has no memory waiting that says how long it is
constexpr int reads_at_once = 16;
constexpr std::size_t parts_at_once = 16;

bool fits(const TcpPost& post, std::uint64_t size, std::uint32_t stamp) {
  return post.size == size && post.stamp == stamp;
}

}  // namespace

bool TcpLink::wants_to_read() const { return open_ && unasked_bytes_ <= most_unasked_bytes; }

void TcpLink::stop(const std::string& why) {
  if (!open_) return;
  open_ = false;
  why_ = why;
  sends_.clear();
  socket_.close();
}

TcpPostPointer TcpLink::send(std::uint32_t channel, std::uint32_t stamp, std::span<const std::byte> bytes) {
  auto post = std::make_shared<TcpPost>();
  post->size = bytes.size();
  post->stamp = stamp;
  post->moved = TcpClock::now();
  if (!open_) return post;
  Sent& sent = sends_.emplace_back();
  sent.head = render_head({channel, stamp, bytes.size()});
  sent.data = bytes.data();
  sent.size = bytes.size();
  sent.post = post;
  if (sends_.size() == 1) write();
  return post;
}

void TcpLink::send_copy(std::uint32_t channel, std::uint32_t stamp, std::string_view bytes) {
  if (!open_) return;
  Sent& sent = sends_.emplace_back();
  sent.head = render_head({channel, stamp, bytes.size()});
  sent.copy = bytes;
  sent.size = bytes.size();
  if (sends_.size() == 1) write();
}

void TcpLink::write() {
  while (has_to_write()) {
    iovec parts[parts_at_once];
    std::size_t count = 0;
    for (auto sent = sends_.begin(); sent != sends_.end() && count + 2 <= parts_at_once; ++sent) {
      const std::size_t head = sent->head.size();
      const std::byte* data = sent->post ? sent->data : reinterpret_cast<const std::byte*>(sent->copy.data());
      if (sent->gone < head) parts[count++] = {sent->head.data() + sent->gone, head - sent->gone};
      const std::size_t from = sent->gone < head ? 0 : sent->gone - head;
      if (from < sent->size) parts[count++] = {const_cast<std::byte*>(data) + from, sent->size - from};
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = count;
    const ssize_t gone = sendmsg(socket_.fd(), &message, MSG_NOSIGNAL);
    if (gone < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return;
      const std::string why = std::strerror(errno);
      read();  // its last words may have come
      return stop(why);
    }
    advance(static_cast<std::size_t>(gone));
  }
}

void TcpLink::advance(std::size_t count) {
  while (count > 0) {
    Sent& first = sends_.front();
    const std::size_t step = std::min(count, first.head.size() + first.size - first.gone);
    first.gone += step;
    count -= step;
    if (first.gone == first.head.size() + first.size) {
      if (first.post) first.post->done = true;
      sends_.pop_front();
    } else if (first.post) {
      first.post->moved = TcpClock::now();
    }
  }
}

TcpPostPointer TcpLink::receive(std::uint32_t channel, std::uint32_t stamp, std::span<std::byte> bytes) {
  auto post = std::make_shared<TcpPost>();
  post->data = bytes.data();
  post->size = bytes.size();
  post->stamp = stamp;
  post->moved = TcpClock::now();
  Lane& lane = lanes_[channel];
  if (lane.unasked.empty()) {
    lane.awaited.push_back(post);
    return post;
  }
  Unasked& first = lane.unasked.front();
  const bool is_right = fits(*post, first.size, first.stamp);
  if (!is_right) {
    post->odd_size = first.size;
    post->done = true;
  }
  const std::size_t there = first.whole ? first.size : static_cast<std::size_t>(got_);
  if (is_right && there > 0) std::memcpy(post->data, first.bytes.get(), there);
  if (first.whole) {
    post->done = true;
  } else {  // the rest goes where it belongs at once
    lane_ = nullptr;
    if (is_right) posted_ = post;
  }
  unasked_bytes_ -= first.size;
  lane.unasked.pop_front();
  return post;
}

std::optional<TcpText> TcpLink::take(std::uint32_t channel) {
  const auto lane = lanes_.find(channel);
  if (lane == lanes_.end() || lane->second.unasked.empty() || !lane->second.unasked.front().whole)
    return std::nullopt;
  const Unasked& first = lane->second.unasked.front();
  TcpText text{first.stamp, {reinterpret_cast<const char*>(first.bytes.get()), first.size}};
  unasked_bytes_ -= first.size;
  lane->second.unasked.pop_front();
  return text;
}

// Where the rest of the arriving message goes; null where it is dropped.
std::byte* TcpLink::place_of_rest() {
  if (posted_) return posted_->data + got_;
  return lane_ != nullptr ? lane_->unasked.back().bytes.get() + got_ : nullptr;
}

// The rest of a message and the head of the next with one call.
void TcpLink::read() {
  for (int reads = 0; open_ && reads < reads_at_once; ++reads) {
    iovec parts[2];
    std::size_t count = 0;
    std::size_t asked = 0;
    const std::size_t rest = arriving_ ? static_cast<std::size_t>(head_.bytes - got_) : 0;
    std::size_t room = rest;
    if (rest > 0) {
      std::byte* place = place_of_rest();
      if (place == nullptr) {
        dropped_.resize(dropped_at_once);
        place = dropped_.data();
        room = std::min(rest, dropped_.size());
      }
      parts[count++] = {place, room};
      asked += room;
    }
    if (room == rest) {
      parts[count++] = {head_bytes_.data() + have_, head_bytes_.size() - have_};
      asked += head_bytes_.size() - have_;
    }
    const ssize_t came = readv(socket_.fd(), parts, static_cast<int>(count));
    if (came == 0) return stop("its connection is closed");
    if (came < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) stop(std::strerror(errno));
      return;
    }
    take_in(static_cast<std::size_t>(came));
    if (static_cast<std::size_t>(came) < asked) return;  // that was all
  }
}

void TcpLink::take_in(std::size_t count) {
  if (arriving_) {
    const std::size_t step = std::min<std::size_t>(count, head_.bytes - got_);
    got_ += step;
    count -= step;
    if (posted_) posted_->moved = TcpClock::now();
    if (got_ == head_.bytes) finish_frame();
  }
  have_ += count;
  if (have_ == head_bytes_.size()) begin_frame();
}

void TcpLink::begin_frame() {
  have_ = 0;
  const auto head = parse_head(head_bytes_);
  if (!head || (head->channel < channel::first_wire && head->bytes > most_text_bytes))
    return stop("it sent what is no message of libddl");
  head_ = *head;
  arriving_ = true;
  got_ = 0;
  lane_ = nullptr;
  posted_.reset();
  Lane& lane = lanes_[head_.channel];
  if (!lane.awaited.empty()) {
    const TcpPostPointer post = lane.awaited.front();
    lane.awaited.pop_front();
    if (fits(*post, head_.bytes, head_.stamp)) {
      posted_ = post;
      post->moved = TcpClock::now();
    } else {
      post->odd_size = head_.bytes;
      post->done = true;
    }
  } else {
    const auto size = static_cast<std::size_t>(head_.bytes);
    lane.unasked.push_back({head_.stamp, size, std::make_unique_for_overwrite<std::byte[]>(size), false});
    unasked_bytes_ += size;
    lane_ = &lane;
  }
  if (head_.bytes == 0) finish_frame();
}

void TcpLink::finish_frame() {
  arriving_ = false;
  if (posted_) posted_->done = true;
  posted_.reset();
  if (lane_ != nullptr) lane_->unasked.back().whole = true;
  lane_ = nullptr;
  if (head_.channel == channel::goodbye) end_ = head_.stamp == 0 ? End::goodbye : End::gave_up;
}

void TcpLink::withdraw() {
  for (auto sent = sends_.begin(); sent != sends_.end();) {
    if (sent->post && sent->gone == 0) {
      sent = sends_.erase(sent);
      continue;
    }
    if (sent->post) {
      sent->copy.assign(reinterpret_cast<const char*>(sent->data), sent->size);
      sent->post.reset();
    }
    ++sent;
  }
  posted_.reset();  // what is still to come of it is dropped
  for (auto& [number, lane] : lanes_) lane.awaited.clear();
}

}  // namespace ddl
