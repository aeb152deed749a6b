// SPDX-License-Identifier: MIT
// Ranks as processes, without MPI: they meet at rank 0's address, exchange over TCP, and share memory on a
// host.
#pragma once

#include "ddl/ranks.hpp"
#include "ddl/tcp_start.hpp"

#include <memory>

namespace ddl {

// Collective: returns when all ranks have come. Throws Error(lost) with those that have not within
// `timeout_seconds`.
std::unique_ptr<Ranks> make_tcp_ranks(const TcpRoll& roll, double timeout_seconds);

}  // namespace ddl
