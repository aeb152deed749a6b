// SPDX-License-Identifier: MIT
// Messages of a program's own between any two ranks, beside the collectives, and which rank is missing when
// one is awaited long. Of ranks on this host the system reports whether their process runs; a rank of another
// host is asked whom it waits for, and so on, down to the one that does not respond.
#pragma once

#include "ddl/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ddl {

class Transport;

// Made by Context::open_messages(), which outlives it. One thread at a time is in it or in its Context.
class RankMessages {
 public:
  using Ticket = std::uint64_t;

  // Waits for what was sent, but not where an exception ends it: then what is under way keeps its memory in
  // use, and the process must end.
  ~RankMessages();
  RankMessages(const RankMessages&) = delete;
  RankMessages& operator=(const RankMessages&) = delete;

  int rank() const;

  // Start a message of a multiple of four bytes, at most 8 GiB; the memory is in use until test() is done
  // with the ticket. `from`: nothing for any rank. Messages of two ranks arrive in their order, in room of
  // their size or more.
  Ticket send(int to, std::span<const std::byte> bytes);
  Ticket receive(std::optional<int> from, std::span<std::byte> bytes);
  // Does not wait. The other rank once the message has come or gone, and never again; nothing before.
  std::optional<int> test(Ticket ticket);

  // Local. `rank`: 0 to the job's size - 1.
  std::string name_of(int rank) const;  // "rank 3 (h2)"
  std::string own_name() const;
  bool is_local(int rank) const;         // its process is visible from here
  bool has_exited(int rank) const;       // false for ranks that are not local
  std::string state_of(int rank) const;  // "process 4711 is stopped"; "" for ranks that are not local

  // To be called again and again while this rank waits for all of `ranks`, the most suspect one first:
  // answers ranks that ask. Throws the Error with which another rank has given up.
  void poll(std::span<const int> ranks);

  struct Unresponsive {
    int rank = -1;          // that does not respond
    bool deadlock = false;  // all respond: each waits for the next
    std::string name;       // "rank 1 (h2)"
    std::string chain;      // "rank 3 (h4) waits for rank 1 (h2), which does not respond"
  };
  // Follows the chain from `rank`, for which this rank waits; blocks up to 1.5 s for each rank that does not
  // respond. Throws as poll().
  Unresponsive find_unresponsive(int rank);

  // Sends the reason to the other ranks before this rank gives up, so that they do not report it as lost.
  void report_failure(const Error& error) noexcept;

 private:
  struct Impl;
  explicit RankMessages(std::unique_ptr<Impl> impl);
  friend std::unique_ptr<RankMessages> make_rank_messages(Transport& transport);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ddl
