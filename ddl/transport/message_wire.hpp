// SPDX-License-Identifier: MIT
// Messages of a program's own between any two ranks: the wire of rank_messages.hpp. Made by MPI.
#pragma once

#include "ddl/rank_messages.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace ddl {

class MessageWire {
 public:
  using Ticket = RankMessages::Ticket;
  // After an exception it leaves what is under way, else it waits for what was sent.
  virtual ~MessageWire() = default;

  virtual Ticket send(int to, std::span<const std::byte> bytes) = 0;
  virtual Ticket receive(std::optional<int> from, std::span<std::byte> bytes) = 0;
  // The other rank, once; then the ticket is used up. Nothing while it is under way.
  virtual std::optional<int> test(Ticket ticket) = 0;
};

// Null where `transport` has no wire. Collective.
std::unique_ptr<RankMessages> make_rank_messages(Transport& transport);

}  // namespace ddl
