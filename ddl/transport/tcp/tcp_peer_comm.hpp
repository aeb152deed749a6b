// SPDX-License-Identifier: MIT
// A wire between processes over the connections of a TcpMesh.
#pragma once

#include "ddl/core/grid.hpp"
#include "ddl/transport/peer_comm.hpp"
#include "ddl/transport/tcp/tcp_mesh.hpp"

#include <memory>

namespace ddl {

// `level`: of a place in `grid`. Its ranks are connected in `mesh`; no other communicator uses `channel`
// between them. `timeout_seconds`: how long a message may rest from when it is waited for.
std::unique_ptr<PeerComm> make_tcp_peer_comm(TcpMesh& mesh, const Grid& grid, Level level,
                                             std::uint32_t channel, double timeout_seconds);

}  // namespace ddl
