// SPDX-License-Identifier: MIT
// The connections of one rank: to rank 0 from the start, to those it shares a wire or a host with once these
// are known. Between the starts nobody listens. Used by one thread at a time; nothing runs beside it.
#pragma once

#include "ddl/error.hpp"
#include "ddl/tcp_door.hpp"
#include "ddl/tcp_link.hpp"
#include "ddl/tcp_start.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

class TcpMesh {
 public:
  // The roll call. Collective, as gather() and connect(): rank 0 listens until all have come.
  TcpMesh(const TcpRoll& roll, double timeout_seconds);
  // Says goodbye; what is under way still goes.
  ~TcpMesh();
  TcpMesh(const TcpMesh&) = delete;
  TcpMesh& operator=(const TcpMesh&) = delete;

  int rank() const { return static_cast<int>(self_.card.rank); }
  int size() const { return static_cast<int>(self_.card.size); }
  double timeout_seconds() const { return self_.timeout_seconds; }
  const std::vector<std::string>& hosts() const { return hosts_; }  // by rank, as they are named
  std::string name_of(int rank) const;                              // "rank 3 (h2)"

  std::vector<std::string> gather(const std::string& mine);
  // To each of `peers` that there is none to yet; if I am a peer of theirs, they are of mine.
  void connect(const std::vector<int>& peers);
  // The same on all ranks: that many channels nobody else uses.
  std::uint32_t take_channels(std::uint32_t count) {
    return std::exchange(next_channel_, next_channel_ + count);
  }

  // Null: there is no connection to that rank.
  TcpLink* link_to(int rank);
  std::map<int, std::unique_ptr<TcpLink>>& links() { return links_; }
  // Reads and writes on all connections; waits up to `most` for one that can.
  void progress(std::chrono::milliseconds most);
  // A rank that ended without a word; -1: none.
  int find_lost() const;
  // Why nothing more comes from that rank.
  Error lost(int rank) const;

  void abandon() noexcept;

 private:
  void meet(const TcpRoll& roll);
  void meet_as_first(const TcpRoll& roll, TcpClock::time_point deadline);
  void learn_hosts();
  void add_link(int rank, Socket socket);
  std::string await_text(int rank, TcpClock::time_point deadline);
  std::vector<std::string> gather_as_first(const std::string& mine);
  void tell_others(const Error& error);
  void finish();

  TcpSelf self_;
  std::map<int, std::unique_ptr<TcpLink>> links_;
  std::vector<std::string> hosts_;
  std::uint32_t rounds_ = 0;  // of gather()
  std::uint32_t next_channel_ = channel::first_wire;
  bool abandoned_ = false;
};

}  // namespace ddl
