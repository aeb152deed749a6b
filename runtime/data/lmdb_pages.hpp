// SPDX-License-Identifier: MIT
// Parser of an LMDB file (data.mdb, version 0.9): the LMDB library trusts the file and would crash on a
// damaged one. Pure; never reads outside of the bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// Views into the file.
struct LmdbRecord {
  const std::uint8_t* key = nullptr;
  const std::uint8_t* value = nullptr;
  std::uint32_t key_size = 0;
  std::uint32_t value_size = 0;
};

// All records of the main database in key order. Throws Error(request) with `name`: not an LMDB, truncated,
// damaged, or with features that Caffe does not use (several values per key, nested databases).
std::vector<LmdbRecord> parse_lmdb(std::span<const std::uint8_t> file, std::string_view name);

}  // namespace ddlrun::runtime
