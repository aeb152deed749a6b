// SPDX-License-Identifier: MIT
// A file that whoever opens it finds whole: written beside, synced and renamed at the end, behind all links
// and with the rights of the one that was there. What is no regular file (a device, a pipe) is written
// through, and so is the one that stdout or stderr go to.
#pragma once

#include "runtime/telemetry/metrics.hpp"

#include <cstdio>
#include <string>
#include <string_view>

namespace ddlrun::runtime {

class AtomicFile {
 public:
  // Throws Error(request), as the others. An empty path writes nothing.
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
  std::string target_;  // behind the links; "" where it is written through
  std::string beside_;
  std::FILE* file_ = nullptr;
};

// Throws what a AtomicFile would throw at its start, and leaves nothing behind.
void check_atomic_file(const std::string& path, const FilePurpose& use);

}  // namespace ddlrun::runtime
