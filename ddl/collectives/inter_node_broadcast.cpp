// SPDX-License-Identifier: MIT
#include "ddl/collectives/inter_node_broadcast.hpp"

#include <algorithm>
#include <deque>
#include <optional>

namespace ddl {
namespace {

constexpr std::size_t broadcast_window = 8;  // messages under way to or from each neighbour

struct Hop {
  PeerComm* comm = nullptr;
  int rank = 0;
};

// Over all levels: a rank gets the bytes on the lowest level where it is not where the root is, and is the
// root of its wires below.
struct Route {
  Hop parent;
  std::vector<Hop> children;  // highest level first: the farthest wait longest
};

Route plan_route(PeerComms comms, std::span<const int> root, bool is_long) {
  Route route;
  std::size_t level = 0;
  while (level < comms.size() && comms[level]->rank() == root[level]) ++level;
  const std::size_t top = std::min(level + 1, comms.size());
  for (std::size_t i = top; i-- > 0;) {
    PeerComm& comm = *comms[i];
    const TreePlace place = is_long ? plan_chain(comm.size(), comm.rank(), root[i])
                                    : plan_binomial_tree(comm.size(), comm.rank(), root[i]);
    if (place.parent >= 0) route.parent = {&comm, place.parent};
    for (const int child : place.children) route.children.push_back({&comm, child});
  }
  return route;
}

struct PostedMessage {
  PeerComm* comm = nullptr;
  PeerComm::Ticket ticket = 0;
};

}  // namespace

TreePlace plan_chain(int size, int rank, int root) {
  const int place = (rank - root + size) % size;
  TreePlace connections;
  if (place > 0) connections.parent = (rank - 1 + size) % size;
  if (place + 1 < size) connections.children.push_back((rank + 1) % size);
  return connections;
}

TreePlace plan_binomial_tree(int size, int rank, int root) {
  const int place = (rank - root + size) % size;
  TreePlace connections;
  int bit = 1;
  while (bit < size && (place & bit) == 0) bit <<= 1;
  if (place > 0) connections.parent = (place - bit + root) % size;
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (place + bit < size) connections.children.push_back((place + bit + root) % size);
  }
  return connections;
}

void broadcast_on_trees(PeerComms comms, std::span<const int> root, std::span<std::byte> data,
                        const InterNodeOptions& options) {
  const std::size_t message = std::max<std::size_t>(options.message_bytes, 1);
  const std::size_t messages = std::max<std::size_t>((data.size() + message - 1) / message, 1);
  const Route route = plan_route(comms, root, messages > 1);
  const auto part = [&](std::size_t i) {
    return data.subspan(i * message, std::min(message, data.size() - i * message));
  };
  // Each child answers its parent with an empty message of its own call: two ranks that both send as the root
  // would otherwise not find out.
  std::vector<PostedMessage> answers;
  for (const Hop& child : route.children)
    answers.push_back({child.comm, child.comm->receive(child.rank, {})});
  std::optional<PeerComm::Ticket> answer;
  if (route.parent.comm != nullptr) answer = route.parent.comm->send(route.parent.rank, {});
  std::deque<PeerComm::Ticket> coming;
  std::deque<PostedMessage> going;
  std::size_t posted = 0;
  for (std::size_t i = 0; i < messages; ++i) {
    if (route.parent.comm != nullptr) {
      for (; posted < std::min(messages, i + broadcast_window); ++posted) {
        coming.push_back(route.parent.comm->receive(route.parent.rank, part(posted)));
      }
      route.parent.comm->wait(coming.front());
      coming.pop_front();
    }
    for (const Hop& child : route.children)
      going.push_back({child.comm, child.comm->send(child.rank, part(i))});
    // After the first message is on its way, so that they cross.
    for (const PostedMessage& expected : answers) expected.comm->wait(expected.ticket);
    answers.clear();
    while (going.size() > broadcast_window * route.children.size()) {
      going.front().comm->wait(going.front().ticket);
      going.pop_front();
    }
  }
  for (const PostedMessage& sent : going) sent.comm->wait(sent.ticket);
  if (answer) route.parent.comm->wait(*answer);
}

}  // namespace ddl
