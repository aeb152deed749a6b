// SPDX-License-Identifier: MIT
#include "ddl/tcp_ranks.hpp"

#include "ddl/shm_host_group.hpp"
#include "ddl/tcp_mesh.hpp"
#include "ddl/tcp_notes.hpp"
#include "ddl/tcp_wire.hpp"

#include <numeric>

namespace ddl {
namespace {

constexpr std::uint32_t most_dimensions = 4;

class TcpRanks : public Ranks {
 public:
  TcpRanks(const TcpRoll& roll, double timeout_seconds) : mesh_(roll, timeout_seconds) {}

  int rank() const override { return mesh_.rank(); }
  int size() const override { return mesh_.size(); }
  std::vector<std::string> gather(const std::string& mine) override { return mesh_.gather(mine); }
  std::string host_name() const override { return mesh_.hosts()[static_cast<std::size_t>(rank())]; }

  std::unique_ptr<HostGroup> make_host_group(const Grid& grid) override {
    return make_shm_host_group([this](const std::string& mine) { return mesh_.gather(mine); }, grid, rank(),
                               mesh_.timeout_seconds());
  }

  // Also to those of this host, for notes.
  std::vector<std::unique_ptr<Wire>> make_wires(const Grid& grid, double timeout_seconds) override {
    if (grid.hosts.size() == 1) return {};
    Place place = grid.place(rank());
    std::vector<int> peers = place.local_ranks;
    for (const Level& level : place.levels) peers.insert(peers.end(), level.ranks.begin(), level.ranks.end());
    mesh_.connect(peers);
    const std::uint32_t first = mesh_.take_channels(most_dimensions);
    std::vector<std::unique_ptr<Wire>> wires;
    for (Level& level : place.levels)
      wires.push_back(
          make_wire(grid, level, first + static_cast<std::uint32_t>(level.dimension), timeout_seconds));
    return wires;
  }

  std::unique_ptr<Wire> make_flat_wire(const Grid& grid, double timeout_seconds) override {
    Level all{.name = '*', .dimension = 0, .me = rank(), .ranks = {}};
    all.ranks.resize(static_cast<std::size_t>(size()));
    std::iota(all.ranks.begin(), all.ranks.end(), 0);
    mesh_.connect(all.ranks);
    return make_wire(grid, all, mesh_.take_channels(1), timeout_seconds);
  }

  std::unique_ptr<NoteBox> make_notes() override { return make_tcp_notes(mesh_); }

  // There is no other library.
  bool plain_all_reduce(const std::byte*, std::byte*, std::size_t, DataType, Operation) override {
    return false;
  }
  void abandon() noexcept override { mesh_.abandon(); }

 private:
  std::unique_ptr<Wire> make_wire(const Grid& grid, const Level& level, std::uint32_t channel,
                                  double seconds) {
    std::vector<std::string> names;
    for (const int member : level.ranks) names.push_back(grid.name_of(member));
    return make_tcp_wire(mesh_, level, channel, std::move(names), seconds);
  }

  TcpMesh mesh_;
};

}  // namespace

std::unique_ptr<Ranks> make_tcp_ranks(const TcpRoll& roll, double timeout_seconds) {
  return std::make_unique<TcpRanks>(roll, timeout_seconds);
}

}  // namespace ddl
