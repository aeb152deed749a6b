// SPDX-License-Identifier: MIT
// What libFuzzer calls. Exactly one target is linked.
#include "fuzz/fuzz_target.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ddlrun::fuzz::linked_targets().front().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
