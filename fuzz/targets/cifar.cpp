// SPDX-License-Identifier: MIT
// CIFAR files: as many labels as images, each of a class.
#include "runtime/data/cifar.hpp"

#include "fuzz/fuzz_target.hpp"

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::runtime;

DDLRUN_FUZZ_TARGET(cifar) {
  const CifarKind kind = fuzz::take_byte(input) % 2 == 0 ? CifarKind::ten : CifarKind::hundred;
  const std::span<const std::uint8_t> bytes = fuzz::as_bytes(input);
  ImageSet set;
  const auto done = fuzz::accepted([&] { return append_cifar(bytes, kind, "data_batch_1.bin", set), true; });
  if (!done) return;
  fuzz::require(set.pixels.size() == set.count() * 3072, "each label has an image");
  for (const Label label : set.labels)
    fuzz::require(label < (kind == CifarKind::ten ? 10 : 100), "a label is one of the classes");
}
