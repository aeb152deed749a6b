// SPDX-License-Identifier: MIT
// A wire between processes over the connections of a TcpMesh.
#pragma once

#include "ddl/core/grid.hpp"
#include "ddl/transport/peer_comm.hpp"
#include "ddl/transport/tcp/tcp_mesh.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ddl {

// `level.ranks` are connected in `mesh`, `names` are theirs; no other communicator uses `channel` between
// them. `timeout_seconds`: how long a message may rest from when it is waited for.
std::unique_ptr<PeerComm> make_tcp_peer_comm(TcpMesh& mesh, Level level, std::uint32_t channel,
                                             std::vector<std::string> names, double timeout_seconds);

}  // namespace ddl
