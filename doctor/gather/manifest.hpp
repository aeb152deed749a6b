// SPDX-License-Identifier: MIT
// What lies below a path, in a few numbers that are equal on two hosts where the files are: names and sizes,
// not contents. Bounded in entries and time, and independent of the order in which a file system lists them.
#pragma once

#include "base/os/host_info.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::doctor {

struct ManifestBounds {
  std::uint64_t entries = 20'000;  // names looked at
  std::uint64_t sizes = 2'000;     // above so many files only the sizes of the sample are read
  std::chrono::milliseconds time{2000};
};

struct SampledFile {
  std::string name;  // below the path
  std::uint64_t size_bytes = 0;
};

struct Manifest {
  enum class State { file, dir, missing, unreadable } state = State::missing;
  bool complete = true;  // false: a bound was reached, the numbers are not comparable
  std::uint64_t files = 0;
  bool has_bytes = true;  // false: too many files to ask each
  std::uint64_t bytes = 0;
  std::uint64_t names_hash = 0;  // of all names
  std::uint64_t sizes_hash = 0;  // of names and sizes of all files, or of the sample
  std::int64_t newest_seconds = 0;
  std::vector<SampledFile> sample;  // 64 chosen by the hash of their names, so the same on every host
  std::uint64_t denied = 0;         // of those asked: not readable by this user, or directories not listable
  std::string first_denied;
};

Manifest read_manifest(HostInfo& kernel, const std::string& path, const ManifestBounds& bounds);

}  // namespace ddlrun::doctor
