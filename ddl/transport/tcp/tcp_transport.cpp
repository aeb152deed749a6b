// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_transport.hpp"

#include "ddl/node/shm_node_comm.hpp"
#include "ddl/transport/tcp/tcp_mesh.hpp"
#include "ddl/transport/tcp/tcp_oob_channel.hpp"
#include "ddl/transport/tcp/tcp_peer_comm.hpp"

#include <memory>
#include <numeric>
#include <utility>

namespace ddl {
namespace {

constexpr std::uint32_t max_dimensions = 4;
// Of all ranks or of a group: the gather, the levels, all ranks on one level. Later ones may differ between
// ranks.
constexpr std::uint32_t own_channels = 1 + max_dimensions + 1;

class TcpTransport : public Transport {
 public:
  // All ranks of `mesh`.
  explicit TcpTransport(std::shared_ptr<TcpMesh> mesh)
      : mesh_(std::move(mesh)), me_(mesh_->rank()), next_channel_(mesh_->next_channel() + 1) {
    mesh_->skip_channels_to(mesh_->next_channel() + own_channels);
    among_.ranks.resize(static_cast<std::size_t>(mesh_->size()));
    std::iota(among_.ranks.begin(), among_.ranks.end(), 0);
  }
  // A group: all are connected with each other. `channel`: the first of its own.
  TcpTransport(std::shared_ptr<TcpMesh> mesh, std::vector<int> ranks, int me, std::uint32_t channel)
      : mesh_(std::move(mesh)), me_(me), is_group_(true), next_channel_(channel + 1) {
    among_ = {std::move(ranks), channel, 0};
  }

  int rank() const override { return me_; }
  int size() const override { return static_cast<int>(among_.ranks.size()); }
  std::vector<std::string> gather(const std::string& mine) override {
    return is_group_ ? mesh_->gather_among(among_, mine) : mesh_->gather(mine);
  }
  std::string host_name() const override { return mesh_->hosts()[static_cast<std::size_t>(mesh_->rank())]; }

  std::unique_ptr<NodeComm> make_node_comm(const Grid& grid) override {
    return make_shm_node_comm([this](const std::string& mine) { return gather(mine); }, grid, rank(),
                              mesh_->timeout_seconds());
  }

  // Also to those of this host, for notes.
  std::vector<std::unique_ptr<PeerComm>> make_level_comms(const Grid& grid, double timeout_seconds) override {
    if (grid.hosts.size() == 1) return {};
    Place place = grid.place(rank());
    std::vector<int> peers = place.local_ranks;
    for (const Level& level : place.levels) peers.insert(peers.end(), level.ranks.begin(), level.ranks.end());
    connect(peers);
    const std::uint32_t first = take_channels(max_dimensions);
    std::vector<std::unique_ptr<PeerComm>> comms;
    for (const Level& level : place.levels)
      comms.push_back(make_tcp_peer_comm(
          *mesh_, grid, level, first + static_cast<std::uint32_t>(level.dimension), timeout_seconds));
    return comms;
  }

  std::unique_ptr<PeerComm> make_global_comm(const Grid& grid, double timeout_seconds) override {
    Level all{.name = '*', .dimension = 0, .me = rank(), .ranks = {}};
    all.ranks.resize(among_.ranks.size());
    std::iota(all.ranks.begin(), all.ranks.end(), 0);
    connect(all.ranks);
    return make_tcp_peer_comm(*mesh_, grid, std::move(all), take_channels(1), timeout_seconds);
  }

  std::uint32_t next_channel() const override { return mesh_->next_channel(); }
  // The first split connects each rank with each other one: a group cannot, for to connect is a call of all.
  std::unique_ptr<Transport> split(const SplitPlan& plan) override {
    connect(among_.ranks);
    mesh_->skip_channels_to(plan.channel + own_channels);
    if (plan.members.empty()) return nullptr;
    std::vector<int> ranks;
    for (const int member : plan.members) ranks.push_back(among_.ranks[static_cast<std::size_t>(member)]);
    return std::make_unique<TcpTransport>(mesh_, std::move(ranks), plan.me, plan.channel);
  }

  std::unique_ptr<OobChannel> make_oob_channel() override { return make_tcp_oob_channel(*mesh_); }

  // There is no other library.
  bool native_all_reduce(const std::byte*, std::byte*, std::size_t, DataType, Operation) override {
    return false;
  }
  void abandon() noexcept override { mesh_->abandon(); }

 private:
  void connect(const std::vector<int>& peers) {
    if (!is_group_) mesh_->connect(peers);
  }
  std::uint32_t take_channels(std::uint32_t count) {
    return std::exchange(next_channel_, next_channel_ + count);
  }

  std::shared_ptr<TcpMesh> mesh_;
  TcpMesh::Gathering among_;  // ranks of the mesh, by rank here
  int me_ = 0;
  bool is_group_ = false;
  std::uint32_t next_channel_;
};

}  // namespace

std::unique_ptr<Transport> make_tcp_transport(const TcpBootstrap& inspector, double timeout_seconds) {
  return std::make_unique<TcpTransport>(std::make_shared<TcpMesh>(inspector, timeout_seconds));
}

}  // namespace ddl
