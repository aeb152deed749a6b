// SPDX-License-Identifier: MIT
// An LMDB as Caffe writes it: records are Datums, in the order of their keys. Read by mapping the file: what
// does not fit into memory stays on the disk, and all ranks of a host share one copy.
#pragma once

#include "runtime/data/data_request.hpp"
#include "runtime/data/image_source.hpp"

#include <span>
#include <string>

namespace ddlrun::runtime {

// A directory with data.mdb, or the file itself.
bool is_lmdb(const std::string& path);

// Throws Error(request): no LMDB, damaged, cut short, empty, no Datums.
SourcePtr open_lmdb(const std::string& path, const DataRequest& request);

// Writes one: keys must come in ascending order. Until finish() it is in FOLDER.part, which no reader takes
// for an LMDB, and which goes with a writer that does not come so far; that of a killed one is used again.
// Throws Error(request) if the directory exists, another writes there, or the disk is full.
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
