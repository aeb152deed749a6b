// SPDX-License-Identifier: MIT
// An LMDB written for Caffe: Datum records in key order. The file is memory-mapped: it may be larger than
// memory, and all ranks of a host share one copy.
#pragma once

#include "runtime/data/data_request.hpp"
#include "runtime/data/image_source.hpp"

#include <span>
#include <string>

namespace ddlrun::runtime {

// A directory with data.mdb, or the file itself.
bool is_lmdb(const std::string& path);

// Throws Error(request): not an LMDB, damaged, truncated, empty, or no Datum records.
SourcePtr open_lmdb(const std::string& path, const DataRequest& request);

// Writes an LMDB; keys must ascend. Until finish() it is in DIR.part, which no reader accepts and which the
// destructor removes; that of a killed writer is reused. Throws Error(request) if the directory exists,
// another process writes it, or the disk is full.
class LmdbWriter {
 public:
  LmdbWriter(const std::string& directory, std::size_t expected_bytes);
  ~LmdbWriter();
  LmdbWriter(const LmdbWriter&) = delete;
  LmdbWriter& operator=(const LmdbWriter&) = delete;

  void put(const std::string& key, std::span<const std::uint8_t> record);
  void finish();

 private:
  class Store;
  std::unique_ptr<Store> store_;
};

}  // namespace ddlrun::runtime
