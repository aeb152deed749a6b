// SPDX-License-Identifier: MIT
// What the tests of the host stage share: ranks as threads, their common memory, the text of an error.
#pragma once

#include "ddl/error.hpp"
#include "ddl/node/node_collectives.hpp"
#include "ddl/transport/thread/thread_node_comm.hpp"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ddl::tests {

inline std::string rank_on_h2(int rank) { return "rank " + std::to_string(rank) + " (h2)"; }

inline void on_threads(int size, const std::function<void(ddl::NodeComm&)>& work) {
  auto groups = ddl::make_thread_node_comms(size, rank_on_h2);
  std::vector<std::thread> threads;
  for (auto& group : groups) threads.emplace_back([&group, &work] { work(*group); });
  for (std::thread& thread : threads) thread.join();
}

// One rank's view of a block that holds one number vector of each rank.
struct NodeBuffer {
  NodeBuffer(ddl::NodeComm& node_comm, std::size_t bytes) : group(node_comm), block(group.allocate(bytes)) {}
  ddl::SharedRange range(std::size_t count, ddl::DataType type) const {
    ddl::SharedRange range{{}, count, type};
    for (int r = 0; r < group.local_size(); ++r) range.parts.push_back(block->part(r).data());
    return range;
  }
  std::byte* own() const { return block->part(group.local_rank()).data(); }
  ddl::NodeComm& group;
  std::shared_ptr<ddl::SharedBuffer> block;
};

inline std::string thrown(const std::function<void()>& work) {
  try {
    work();
  } catch (const ddl::Error& error) {
    const char* faults[] = {"usage", "mismatch", "lost", "unsupported"};
    return std::string(faults[static_cast<int>(error.fault())]) + ": " + error.what() + " | " + error.where();
  }
  return "nothing";
}

}  // namespace ddl::tests
