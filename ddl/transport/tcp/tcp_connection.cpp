// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_connection.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace ddl {
namespace {

constexpr std::size_t dropped_at_once = 64 << 10;
constexpr std::size_t max_unexpected_bytes = 64 << 20;  // then the other side has to wait
constexpr std::uint64_t max_control_bytes = 256
                                            << 20;  // a text has no memory waiting that says how long it is
constexpr int reads_at_once = 16;
constexpr std::size_t parts_at_once = 16;

bool fits(const TcpPost& post, std::uint64_t size, std::uint32_t call_id) {
  return post.size == size && post.call_id == call_id;
}

}  // namespace

bool TcpConnection::wants_to_read() const { return open_ && unexpected_bytes_ <= max_unexpected_bytes; }

void TcpConnection::stop(const std::string& why) {
  if (!open_) return;
  open_ = false;
  why_ = why;
  sends_.clear();
  socket_.close();
}

TcpPostPointer TcpConnection::send(std::uint32_t channel, std::uint32_t call_id,
                                   std::span<const std::byte> bytes) {
  auto post = std::make_shared<TcpPost>();
  post->size = bytes.size();
  post->call_id = call_id;
  post->transferred = TcpClock::now();
  if (!open_) return post;
  Sent& sent = sends_.emplace_back();
  sent.header = render_header({channel, call_id, bytes.size()});
  sent.data = bytes.data();
  sent.size = bytes.size();
  sent.post = post;
  if (sends_.size() == 1) write();
  return post;
}

void TcpConnection::send_copy(std::uint32_t channel, std::uint32_t call_id, std::string_view bytes) {
  if (!open_) return;
  Sent& sent = sends_.emplace_back();
  sent.header = render_header({channel, call_id, bytes.size()});
  sent.copy = bytes;
  sent.size = bytes.size();
  if (sends_.size() == 1) write();
}

void TcpConnection::write() {
  while (has_to_write()) {
    iovec parts[parts_at_once];
    std::size_t count = 0;
    for (auto sent = sends_.begin(); sent != sends_.end() && count + 2 <= parts_at_once; ++sent) {
      const std::size_t header = sent->header.size();
      const std::byte* data = sent->post ? sent->data : reinterpret_cast<const std::byte*>(sent->copy.data());
      if (sent->gone < header) parts[count++] = {sent->header.data() + sent->gone, header - sent->gone};
      const std::size_t from = sent->gone < header ? 0 : sent->gone - header;
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

void TcpConnection::advance(std::size_t count) {
  while (count > 0) {
    Sent& first = sends_.front();
    const std::size_t step = std::min(count, first.header.size() + first.size - first.gone);
    first.gone += step;
    count -= step;
    if (first.gone == first.header.size() + first.size) {
      if (first.post) first.post->done = true;
      sends_.pop_front();
    } else if (first.post) {
      first.post->transferred = TcpClock::now();
    }
  }
}

TcpPostPointer TcpConnection::receive(std::uint32_t channel, std::uint32_t call_id,
                                      std::span<std::byte> bytes) {
  auto post = std::make_shared<TcpPost>();
  post->data = bytes.data();
  post->size = bytes.size();
  post->call_id = call_id;
  post->transferred = TcpClock::now();
  ChannelQueue& queue = queues_[channel];
  if (queue.unexpected.empty()) {
    queue.posted.push_back(post);
    return post;
  }
  Unexpected& first = queue.unexpected.front();
  const bool is_right = fits(*post, first.size, first.call_id);
  if (!is_right) {
    post->is_mismatch = true;
    post->done = true;
  }
  const std::size_t there = first.whole ? first.size : static_cast<std::size_t>(got_);
  if (is_right && there > 0) std::memcpy(post->data, first.bytes.get(), there);
  if (first.whole) {
    post->done = true;
  } else {  // the rest goes where it belongs at once
    queue_ = nullptr;
    if (is_right) posted_ = post;
  }
  unexpected_bytes_ -= first.size;
  queue.unexpected.pop_front();
  return post;
}

std::optional<ChannelMessage> TcpConnection::take(std::uint32_t channel) {
  const auto queue = queues_.find(channel);
  if (queue == queues_.end() || queue->second.unexpected.empty() || !queue->second.unexpected.front().whole)
    return std::nullopt;
  const Unexpected& first = queue->second.unexpected.front();
  ChannelMessage text{first.call_id, {reinterpret_cast<const char*>(first.bytes.get()), first.size}};
  unexpected_bytes_ -= first.size;
  queue->second.unexpected.pop_front();
  return text;
}

// Where the rest of the arriving message goes; null where it is dropped.
std::byte* TcpConnection::place_of_rest() {
  if (posted_) return posted_->data + got_;
  return queue_ != nullptr ? queue_->unexpected.back().bytes.get() + got_ : nullptr;
}

// The rest of a message and the head of the next with one call.
void TcpConnection::read() {
  for (int reads = 0; open_ && reads < reads_at_once; ++reads) {
    iovec parts[2];
    std::size_t count = 0;
    std::size_t request = 0;
    const std::size_t rest = arriving_ ? static_cast<std::size_t>(header_.bytes - got_) : 0;
    std::size_t room = rest;
    if (rest > 0) {
      std::byte* place = place_of_rest();
      if (place == nullptr) {
        dropped_.resize(dropped_at_once);
        place = dropped_.data();
        room = std::min(rest, dropped_.size());
      }
      parts[count++] = {place, room};
      request += room;
    }
    if (room == rest) {
      parts[count++] = {header_bytes_.data() + have_, header_bytes_.size() - have_};
      request += header_bytes_.size() - have_;
    }
    const ssize_t accepted_ranks = readv(socket_.fd(), parts, static_cast<int>(count));
    if (accepted_ranks == 0) return stop("its connection is closed");
    if (accepted_ranks < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) stop(std::strerror(errno));
      return;
    }
    take_in(static_cast<std::size_t>(accepted_ranks));
    if (static_cast<std::size_t>(accepted_ranks) < request) return;  // that was all
  }
}

void TcpConnection::take_in(std::size_t count) {
  if (arriving_) {
    const std::size_t step = std::min<std::size_t>(count, header_.bytes - got_);
    got_ += step;
    count -= step;
    if (posted_) posted_->transferred = TcpClock::now();
    if (got_ == header_.bytes) finish_frame();
  }
  have_ += count;
  if (have_ == header_bytes_.size()) begin_frame();
}

void TcpConnection::begin_frame() {
  have_ = 0;
  const auto header = parse_header(header_bytes_);
  if (!header || (header->channel < channel::first_comm && header->bytes > max_control_bytes))
    return stop("it sent what is no message of libddl");
  header_ = *header;
  arriving_ = true;
  got_ = 0;
  queue_ = nullptr;
  posted_.reset();
  ChannelQueue& queue = queues_[header_.channel];
  if (!queue.posted.empty()) {
    const TcpPostPointer post = queue.posted.front();
    queue.posted.pop_front();
    if (fits(*post, header_.bytes, header_.call_id)) {
      posted_ = post;
      post->transferred = TcpClock::now();
    } else {
      post->is_mismatch = true;
      post->done = true;
    }
  } else {
    const auto size = static_cast<std::size_t>(header_.bytes);
    std::unique_ptr<std::byte[]> kept;
    try {
      kept = std::make_unique_for_overwrite<std::byte[]>(size);
    } catch (const std::bad_alloc&) {
      return stop("it announces a message that is larger than the memory");
    }
    queue.unexpected.push_back({header_.call_id, size, std::move(kept), false});
    unexpected_bytes_ += size;
    queue_ = &queue;
  }
  if (header_.bytes == 0) finish_frame();
}

void TcpConnection::finish_frame() {
  arriving_ = false;
  if (posted_) posted_->done = true;
  posted_.reset();
  if (queue_ != nullptr) queue_->unexpected.back().whole = true;
  queue_ = nullptr;
  if (header_.channel == channel::goodbye) end_ = header_.call_id == 0 ? End::clean : End::after_error;
}

void TcpConnection::withdraw() {
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
  for (auto& [number, queue] : queues_) queue.posted.clear();
}

}  // namespace ddl
