// SPDX-License-Identifier: MIT
// Which addresses lie in memory that the host's ranks share, and where the others have the same range.
#pragma once

#include "ddl/ddl.hpp"
#include "ddl/node/node_collectives.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace ddl {

class SharedBufferRegistry {
 public:
  explicit SharedBufferRegistry(NodeComm& group) : group_(group) {}

  // Collective. The block is known until its last copy is gone.
  std::shared_ptr<SharedBuffer> allocate(std::size_t bytes);
  // The tensor's range in each local rank's part, if it lies whole in this rank's part of a block.
  std::optional<SharedRange> find(const Tensor& tensor) const;

 private:
  NodeComm& group_;
  mutable std::mutex mutex_;  // the communication thread looks up what the program allocates
  mutable std::vector<std::weak_ptr<SharedBuffer>> blocks_;
};

}  // namespace ddl
