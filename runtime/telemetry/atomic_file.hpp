// SPDX-License-Identifier: MIT
// A file that readers only see complete: written to a temporary file, synced and renamed at the end; follows
// symbolic links and keeps the permissions of an existing file. Devices, pipes and the targets of stdout and
// stderr are written directly.
#pragma once

#include "runtime/telemetry/metrics.hpp"

#include <cstdio>
#include <string>
#include <string_view>

namespace ddlrun::runtime {

class AtomicFile {
 public:
  // All functions throw Error(request). An empty path writes nothing.
  AtomicFile(std::string path, FilePurpose use);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  void end();

 private:
  void open_target();
  Error refusal(int code) const;

  std::string path_;
  FilePurpose use_;
  std::string target_;  // after following links; "" if written directly
  std::string beside_;
  std::FILE* file_ = nullptr;
};

// Throws what the constructor of AtomicFile would throw, and leaves no file behind.
void check_atomic_file(const std::string& path, const FilePurpose& use);

}  // namespace ddlrun::runtime
