// SPDX-License-Identifier: MIT
// A directory of checkpoints: ckpt-000812.safetensors and the small file `latest` that names the one to go on
// from. Whenever the process or the machine stops, the last checkpoint or the last but one can be read.
#pragma once

#include "base/error.hpp"
#include "runtime/checkpoint/checkpoint_disk.hpp"
#include "runtime/checkpoint/safetensors.hpp"

#include <functional>
#include <set>

namespace ddlrun::runtime {

std::string checkpoint_name(std::size_t step);
// The step in a name that checkpoint_name() gave.
std::optional<std::size_t> parse_checkpoint_name(const std::string& name);
std::string join_path(const std::string& directory, const std::string& name);

// Reads the whole file and checks every byte. Throws Error(request).
SafetensorsHeader verify_checkpoint(const CheckpointDisk& disk, const std::string& path);
// The tensor at `place`, checked again.
void read_tensor(const CheckpointDisk& disk, const std::string& path, const SafetensorsHeader& header,
                 const TensorEntry& place, std::span<float> values);

// The checkpoint to go on from, and why newer ones were passed over, a line each.
struct FoundCheckpoint {
  std::string path;
  SafetensorsHeader header;
  std::vector<std::string> skipped;
  std::vector<std::size_t> damaged;  // the steps of those
};
// What `latest` names; if that is damaged, the next older one. Nothing if the directory has no checkpoints,
// Error if it has none that is whole.
std::optional<FoundCheckpoint> find_checkpoint(const CheckpointDisk& disk, const std::string& directory);

// Of what has a checkpoint's name, whole or not.
std::optional<std::size_t> newest_step(const CheckpointDisk& disk, const std::string& directory);

// Creates the directory and takes it for this run alone, until the disk ends: two runs would remove each
// other's files. Throws Error(request) with the host and process that have it. A note where there are no
// locks.
std::optional<Message> lock_directory(CheckpointDisk& disk, const std::string& directory);

class CheckpointDirectory {
 public:
  // `damaged`: steps whose checkpoints are known to be; they take no whole one's place among the last `keep`.
  CheckpointDirectory(CheckpointDisk& disk, std::string path, std::size_t keep,
                      const std::vector<std::size_t>& damaged = {});

  // Creates the directory, removes what a killed run left half written, and tries whether it can be written
  // to.
  void prepare();
  // Writes temporary, syncs, reads back, renames, syncs the directory. Returns the name and the size.
  struct Written {
    std::string name;
    std::uint64_t bytes = 0;
  };
  Written write(std::size_t step, const Metadata& metadata, std::span<const Tensor> tensors);
  // Moves `latest`, and then removes checkpoints of earlier steps but the last `keep`.
  void make_latest(const std::string& name);

  // Moves another run's checkpoints and `latest` into "earlier-N" in it: nothing is lost or mixed. Returns
  // that directory, "" if there are none.
  std::string move_aside();

  const std::string& path() const { return path_; }

 private:
  void discard(const std::string& temporary);
  void write_temporary(const std::string& name, std::span<const std::span<const std::byte>> parts,
                       const std::function<void(const std::string&)>& check);

  CheckpointDisk& disk_;
  std::string path_;
  std::size_t keep_;
  std::set<std::size_t> damaged_;
};

}  // namespace ddlrun::runtime
