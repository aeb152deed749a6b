// SPDX-License-Identifier: MIT
// The head of a checkpoint: each tensor is inside the file, and its bytes are those of its shape. A right
// checksum does not make a head right, so the head is read with and without one.
#include "runtime/checkpoint/safetensors.hpp"

#include "fuzz/fuzz_target.hpp"
#include "runtime/checkpoint/checkpoint.hpp"

using namespace ddlrun;
using namespace ddlrun::runtime;

DDLRUN_FUZZ_TARGET(safetensors) {
  const std::uint64_t file_bytes = input.size() + (std::uint64_t{fuzz::take_byte(input)} << 10U);
  fuzz::accepted([&] { return parse_header_length(input.substr(0, length_bytes), file_bytes, "model"); });
  fuzz::accepted([&] { return check_header_checksum(input, "model"), true; });
  fuzz::accepted([&] { return parse_position(std::string(input), "model"); });
  const auto header = fuzz::accepted([&] { return parse_safetensors_header(input, file_bytes, "model"); });
  if (!header) return;
  for (const TensorEntry& tensor : header->tensors)
    fuzz::require(tensor.begin <= tensor.end && header->data_start + tensor.end <= file_bytes,
                  "a tensor is inside the file", tensor.name);
}
