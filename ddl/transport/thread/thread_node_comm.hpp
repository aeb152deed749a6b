// SPDX-License-Identifier: MIT
// The ranks of a host as threads of one process: for tests.
#pragma once

#include "ddl/node/node_comm.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

// One for each rank, used by one thread each. A rank whose group is destroyed is no longer alive to the
// others. Names are "rank 3" where `name_of` is empty.
std::vector<std::unique_ptr<NodeComm>> make_thread_node_comms(int size,
                                                              std::function<std::string(int)> name_of = {});

}  // namespace ddl
