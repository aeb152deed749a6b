// SPDX-License-Identifier: MIT
#include "ddl/node/shared_buffers.hpp"

namespace ddl {

std::shared_ptr<SharedBuffer> SharedBufferRegistry::allocate(std::size_t bytes) {
  std::shared_ptr<SharedBuffer> block = group_.allocate(bytes);
  const std::lock_guard lock(mutex_);
  std::erase_if(blocks_, [](const auto& each) { return each.expired(); });
  blocks_.push_back(block);
  return block;
}

std::optional<SharedRange> SharedBufferRegistry::find(const Tensor& tensor) const {
  const std::lock_guard lock(mutex_);
  for (const auto& each : blocks_) {
    const std::shared_ptr<SharedBuffer> block = each.lock();
    if (!block) continue;
    const std::span<std::byte> mine = block->part(group_.local_rank());
    if (tensor.data < mine.data() || tensor.data + tensor.bytes() > mine.data() + mine.size()) continue;
    SharedRange range{{}, tensor.count, tensor.type};
    for (int r = 0; r < group_.local_size(); ++r)
      range.parts.push_back(block->part(r).data() + (tensor.data - mine.data()));
    return range;
  }
  return std::nullopt;
}

}  // namespace ddl
