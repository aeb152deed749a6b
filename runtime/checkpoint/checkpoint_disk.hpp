// SPDX-License-Identifier: MIT
// The few calls that make a file durable. A test puts a disk in their place that stops the process, refuses,
// or forgets what was not synced, at any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

class CheckpointFile {
 public:
  virtual ~CheckpointFile() = default;
  virtual void append(std::span<const std::byte> bytes) = 0;
  virtual void sync() = 0;
};

// Whether this process has a file to itself.
struct LockResult {
  enum class State { ours, others, impossible };
  State state = State::ours;
  std::string words;  // what the others wrote, or why there are no locks
};

// All calls throw Error(request) if the disk refuses.
class CheckpointDisk {
 public:
  virtual ~CheckpointDisk() = default;

  // With its parents; fine if it is there.
  virtual void create_directory(const std::string& path) = 0;
  // Refuses a file that is there, and does not follow links.
  virtual std::unique_ptr<CheckpointFile> create(const std::string& path) = 0;
  virtual void rename(const std::string& from, const std::string& to) = 0;
  // Makes creations, renames and removals in it durable.
  virtual void sync_directory(const std::string& path) = 0;
  // Fine if it is gone.
  virtual void remove(const std::string& path) = 0;

  // Takes the file for this process until the disk ends; who dies loses it. It then holds "HOST PID". Asked
  // again it is ours.
  virtual LockResult lock(const std::string& path) = 0;

  // The names in a directory; none if there is no such directory.
  virtual std::vector<std::string> list(const std::string& path) const = 0;
  // Of a regular file; nothing if there is none.
  virtual std::optional<std::uint64_t> size(const std::string& path) const = 0;
  // Exactly these bytes.
  virtual void read(const std::string& path, std::uint64_t offset, std::span<std::byte> bytes) const = 0;
};

// This machine's.
std::unique_ptr<CheckpointDisk> make_posix_disk();

}  // namespace ddlrun::runtime
