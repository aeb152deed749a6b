// SPDX-License-Identifier: MIT
// The pages of an LMDB file (data.mdb, version 0.9), read by ourselves: LMDB's own library believes what it
// reads and ends the process on a damaged file. Pure; nothing outside of the bytes is touched.
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

// All records of the main database, in the order of their keys. Throws Error(request) with `name`: no LMDB,
// cut short, damaged, or of a kind that Caffe does not write (several values a key, databases within).
std::vector<LmdbRecord> parse_lmdb(std::span<const std::uint8_t> file, std::string_view name);

}  // namespace ddlrun::runtime
