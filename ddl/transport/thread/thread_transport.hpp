// SPDX-License-Identifier: MIT
// Ranks on several hosts as threads of one process: for tests, and for programs that train with threads.
#pragma once

#include "ddl/transport/transport.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ddl {

// By rank, the name of its host; one Transport for each thread.
std::vector<std::unique_ptr<Transport>> make_thread_transports(const std::vector<std::string>& host_of_rank);

}  // namespace ddl
