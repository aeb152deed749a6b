// SPDX-License-Identifier: MIT
// The TCP connections of one rank, and how they start (the bootstrap):
//
//   rank 0 listens at DDL_MASTER -> every rank connects and both sides prove the token (tcp_handshake)
//     -> gather(): host ids, and a run number that rank 0 draws -> connect(): each pair that shares a level
//     or a node; the lower rank listens on a free port for this step only -> messages on channels -> close
//     with goodbye, or after an error
//
// Nothing listens between these steps. A rank that does not connect in time is Error(lost), on all ranks that
// did. Threads: one at a time; no thread of its own. progress() reads and writes all connections while a call
// waits.
#pragma once

#include "ddl/error.hpp"
#include "ddl/transport/tcp/tcp_bootstrap.hpp"
#include "ddl/transport/tcp/tcp_connection.hpp"
#include "ddl/transport/tcp/tcp_listener.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ddl {

class TcpMesh {
 public:
  // The bootstrap. Collective, as gather() and connect(): rank 0 listens until all ranks are connected.
  TcpMesh(const TcpBootstrap& bootstrap_options, double timeout_seconds);
  // Sends an end message; messages under way still arrive.
  ~TcpMesh();
  TcpMesh(const TcpMesh&) = delete;
  TcpMesh& operator=(const TcpMesh&) = delete;

  int rank() const { return static_cast<int>(self_.info.rank); }
  int size() const { return static_cast<int>(self_.info.size); }
  double timeout_seconds() const { return self_.timeout_seconds; }
  const std::vector<std::string>& hosts() const { return hosts_; }  // by rank, as they are named
  std::string name_of(int rank) const;                              // "rank 3 (h2)"

  std::vector<std::string> gather(const std::string& mine) { return gather_among(all_, mine); }
  // The ranks of a gather, which go through the first one, and their channel; all in the same order.
  struct Gathering {
    std::vector<int> ranks;
    std::uint32_t channel = channel::gather;
    std::uint32_t rounds = 0;
  };
  // Collective over `among`, each connected to the first one. One text of each, in their order.
  std::vector<std::string> gather_among(Gathering& among, const std::string& mine);
  // To each of `peers` that there is none to yet; if I am a peer of theirs, they are of mine.
  void connect(const std::vector<int>& peers);
  // The first channel that this rank has not used.
  std::uint32_t next_channel() const { return next_channel_; }
  // All before it are in use, on this rank or on one that it shares a channel with.
  void skip_channels_to(std::uint32_t next) { next_channel_ = std::max(next_channel_, next); }

  // Null: there is no connection to that rank.
  TcpConnection* connection_to(int rank);
  std::map<int, std::unique_ptr<TcpConnection>>& connections() { return connections_; }
  // Reads and writes on all connections; waits up to `most` for one that can.
  void progress(std::chrono::milliseconds most);
  // A rank that ended without a word; -1: none.
  int find_lost() const;
  // Why nothing more comes from that rank.
  Error lost(int rank) const;

  void abandon() noexcept;

 private:
  void bootstrap(const TcpBootstrap& bootstrap_options);
  void bootstrap_as_rank_0(const TcpBootstrap& bootstrap_options, TcpClock::time_point deadline);
  void exchange_host_ids();
  void add_connection(int rank, Socket socket);
  std::string receive_string(int rank, const Gathering& among, TcpClock::time_point deadline);
  std::vector<std::string> gather_as_first(const Gathering& among, const std::string& mine);
  void send_error(std::span<const int> ranks, std::uint32_t channel, const Error& error);
  void finish();

  TcpIdentity self_;
  std::map<int, std::unique_ptr<TcpConnection>> connections_;
  std::vector<std::string> hosts_;
  Gathering all_;
  std::uint32_t next_channel_ = channel::first_comm;
  bool abandoned_ = false;
};

}  // namespace ddl
