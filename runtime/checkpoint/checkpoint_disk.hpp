// SPDX-License-Identifier: MIT
// The file operations of checkpoints. Tests substitute a disk that stops the process, fails, or loses
// unsynced data at any of them.
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

// Result of lock().
struct LockResult {
  enum class State { ours, others, impossible };
  State state = State::ours;
  std::string words;  // the holder's text, or why locks are unsupported
};

// All calls throw Error(request) if the disk refuses.
class CheckpointDisk {
 public:
  virtual ~CheckpointDisk() = default;

  // Creates it with its parents; succeeds if it exists.
  virtual void create_directory(const std::string& path) = 0;
  // Fails if the file exists; does not follow links.
  virtual std::unique_ptr<CheckpointFile> create(const std::string& path) = 0;
  virtual void rename(const std::string& from, const std::string& to) = 0;
  // Makes creations, renames and removals in the directory durable.
  virtual void sync_directory(const std::string& path) = 0;
  // Succeeds if the file does not exist.
  virtual void remove(const std::string& path) = 0;

  // Locks the file for this process until the disk object is destroyed or the process exits, and writes "HOST
  // PID" to it. Repeated calls succeed.
  virtual LockResult lock(const std::string& path) = 0;

  // The names in a directory; empty if it does not exist.
  virtual std::vector<std::string> list(const std::string& path) const = 0;
  // Size of a regular file; empty if it does not exist.
  virtual std::optional<std::uint64_t> size(const std::string& path) const = 0;
  // Reads exactly bytes.size() bytes.
  virtual void read(const std::string& path, std::uint64_t offset, std::span<std::byte> bytes) const = 0;
};

// The file system of this machine.
std::unique_ptr<CheckpointDisk> make_posix_disk();

}  // namespace ddlrun::runtime
