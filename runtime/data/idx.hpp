// SPDX-License-Identifier: MIT
// The IDX format of MNIST: a pure parser. Allocates nothing based on the header, and accepts the header only
// if it matches the size of the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// A view into the parsed bytes; `dims` as in the header, `data` exactly their product long.
struct IdxArray {
  std::vector<std::uint32_t> dims;
  std::span<const std::uint8_t> data;
};

// `name`: the file, for messages. `dimensions`: 3 for images, 1 for labels. Elements must be unsigned bytes.
// Throws Error(request).
IdxArray parse_idx(std::span<const std::uint8_t> bytes, std::size_t dimensions, std::string_view name);

// The size of the whole file by its header, 0 while `head` is shorter than that. Throws as parse_idx().
std::uint64_t idx_size(std::span<const std::uint8_t> head, std::size_t dimensions, std::string_view name);

// The inverse: header and data.
std::vector<std::uint8_t> render_idx(std::span<const std::uint32_t> dims, std::span<const std::uint8_t> data);

}  // namespace ddlrun::runtime
