// SPDX-License-Identifier: MIT
// Notes between any two ranks over the connections of a TcpMesh. Where two have none, others pass their notes
// on: who names a rank for which it waits is connected to it, and so on the way to it.
#pragma once

#include "ddl/core/liveness_inspector.hpp"
#include "ddl/transport/tcp/tcp_mesh.hpp"

#include <memory>

namespace ddl {

// take() also throws Error(lost) when a rank ended without a reason.
std::unique_ptr<OobChannel> make_tcp_oob_channel(TcpMesh& mesh);

}  // namespace ddl
