// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_transport.hpp"

#include "ddl/node/shm_node_comm.hpp"
#include "ddl/transport/tcp/tcp_mesh.hpp"
#include "ddl/transport/tcp/tcp_oob_channel.hpp"
#include "ddl/transport/tcp/tcp_peer_comm.hpp"

#include <numeric>

namespace ddl {
namespace {

constexpr std::uint32_t max_dimensions = 4;

class TcpTransport : public Transport {
 public:
  TcpTransport(const TcpBootstrap& inspector, double timeout_seconds) : mesh_(inspector, timeout_seconds) {}

  int rank() const override { return mesh_.rank(); }
  int size() const override { return mesh_.size(); }
  std::vector<std::string> gather(const std::string& mine) override { return mesh_.gather(mine); }
  std::string host_name() const override { return mesh_.hosts()[static_cast<std::size_t>(rank())]; }

  std::unique_ptr<NodeComm> make_node_comm(const Grid& grid) override {
    return make_shm_node_comm([this](const std::string& mine) { return mesh_.gather(mine); }, grid, rank(),
                              mesh_.timeout_seconds());
  }

  // Also to those of this host, for notes.
  std::vector<std::unique_ptr<PeerComm>> make_level_comms(const Grid& grid, double timeout_seconds) override {
    if (grid.hosts.size() == 1) return {};
    Place place = grid.place(rank());
    std::vector<int> peers = place.local_ranks;
    for (const Level& level : place.levels) peers.insert(peers.end(), level.ranks.begin(), level.ranks.end());
    mesh_.connect(peers);
    const std::uint32_t first = mesh_.take_channels(max_dimensions);
    std::vector<std::unique_ptr<PeerComm>> comms;
    for (Level& level : place.levels)
      comms.push_back(
          make_comm(grid, level, first + static_cast<std::uint32_t>(level.dimension), timeout_seconds));
    return comms;
  }

  std::unique_ptr<PeerComm> make_global_comm(const Grid& grid, double timeout_seconds) override {
    Level all{.name = '*', .dimension = 0, .me = rank(), .ranks = {}};
    all.ranks.resize(static_cast<std::size_t>(size()));
    std::iota(all.ranks.begin(), all.ranks.end(), 0);
    mesh_.connect(all.ranks);
    return make_comm(grid, all, mesh_.take_channels(1), timeout_seconds);
  }

  std::unique_ptr<OobChannel> make_oob_channel() override { return make_tcp_oob_channel(mesh_); }

  // There is no other library.
  bool native_all_reduce(const std::byte*, std::byte*, std::size_t, DataType, Operation) override {
    return false;
  }
  void abandon() noexcept override { mesh_.abandon(); }

 private:
  std::unique_ptr<PeerComm> make_comm(const Grid& grid, const Level& level, std::uint32_t channel,
                                      double seconds) {
    std::vector<std::string> names;
    for (const int member : level.ranks) names.push_back(grid.name_of(member));
    return make_tcp_peer_comm(mesh_, level, channel, std::move(names), seconds);
  }

  TcpMesh mesh_;
};

}  // namespace

std::unique_ptr<Transport> make_tcp_transport(const TcpBootstrap& inspector, double timeout_seconds) {
  return std::make_unique<TcpTransport>(inspector, timeout_seconds);
}

}  // namespace ddl
