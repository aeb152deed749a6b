// SPDX-License-Identifier: MIT
// A directory of checkpoints: ckpt-000812.safetensors, the small file `latest`, which names the one to resume
// from, and `best`, which names the one with the highest test accuracy. Whenever the process or the machine
// stops, the last or the second last checkpoint is readable.
#pragma once

#include "base/text/error.hpp"
#include "runtime/checkpoint/checkpoint_disk.hpp"
#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/core/path.hpp"

#include <functional>
#include <set>

namespace ddlrun::runtime {

std::string checkpoint_name(std::size_t step);
// The step of a name from checkpoint_name().
std::optional<std::size_t> parse_checkpoint_name(const std::string& name);

// Reads the whole file and checks every byte. Throws Error(request).
SafetensorsHeader verify_checkpoint(const CheckpointDisk& disk, const std::string& path);
// The values of one tensor, with its checksum verified.
void read_tensor(const CheckpointDisk& disk, const std::string& path, const SafetensorsHeader& header,
                 const TensorEntry& place, std::span<float> values);

// The checkpoint to resume from, and why newer ones were skipped, one line each.
struct FoundCheckpoint {
  std::string path;
  SafetensorsHeader header;
  std::vector<std::string> skipped;
  std::vector<std::size_t> damaged;  // the steps of those
};
// The checkpoint that `latest` names, or the newest intact one if that is damaged. Empty if the directory has
// no checkpoints; Error if all are damaged.
std::optional<FoundCheckpoint> find_checkpoint(const CheckpointDisk& disk, const std::string& directory);

// The checkpoint that the file `latest` or `best` at `path` names; empty for any other path.
std::optional<std::string> follow_name(const CheckpointDisk& disk, const std::string& path);

// The highest step of a checkpoint's file name, intact or not.
std::optional<std::size_t> newest_step(const CheckpointDisk& disk, const std::string& directory);

// Whether `path` is a checkpoint, the name of one, or a directory of them, intact or not.
bool is_checkpoint_path(const CheckpointDisk& disk, const std::string& path);

// Creates and locks the directory for this run until the disk object is destroyed: two runs would delete each
// other's files. Throws Error(request) with the host and process that hold the lock. Returns a note if the
// file system has no locks.
std::optional<Message> lock_directory(CheckpointDisk& disk, const std::string& directory);

class CheckpointDirectory {
 public:
  // `damaged`: steps of damaged checkpoints; they do not count among the last `keep`.
  CheckpointDirectory(CheckpointDisk& disk, std::string path, std::size_t keep,
                      const std::vector<std::size_t>& damaged = {});

  // Creates the directory, removes temporary files of a killed run and checks that it is writable.
  void prepare();
  // Writes a temporary file, syncs, reads it back, renames it, syncs the directory. Returns name and size.
  struct Written {
    std::string name;
    std::uint64_t bytes = 0;
  };
  Written write(std::size_t step, const Metadata& metadata, std::span<const Tensor> tensors);
  // Updates `best`. Call it before make_latest(), which removes the one that was the best.
  void make_best(const std::string& name);
  // Updates `latest`, then removes older checkpoints except the last `keep` and the best.
  void make_latest(const std::string& name);

  // Moves another run's checkpoints and `latest` to a subdirectory "earlier-N". Returns its name, "" if there
  // are none.
  std::string move_aside();

  const std::string& path() const { return path_; }

 private:
  void write_name(const std::string& file, const std::string& name);
  void discard(const std::string& temporary);
  void write_temporary(const std::string& name, std::span<const std::span<const std::byte>> parts,
                       const std::function<void(const std::string&)>& check);

  CheckpointDisk& disk_;
  std::string path_;
  std::size_t keep_;
  std::set<std::size_t> damaged_;
  std::optional<std::size_t> best_;  // the step that `best` names
};

}  // namespace ddlrun::runtime
