// SPDX-License-Identifier: MIT
// Ranks as processes, without MPI: they connect at rank 0's address, exchange over TCP, and share memory on a
// host.
#pragma once

#include "ddl/transport/tcp/tcp_bootstrap.hpp"
#include "ddl/transport/transport.hpp"

#include <memory>

namespace ddl {

// Collective: returns when all ranks have come. Throws Error(lost) with those that have not within
// `timeout_seconds`.
std::unique_ptr<Transport> make_tcp_transport(const TcpBootstrap& inspector, double timeout_seconds);

}  // namespace ddl
