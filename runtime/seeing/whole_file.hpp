// SPDX-License-Identifier: MIT
// A file that whoever opens it finds whole: written beside and renamed at the end.
#pragma once

#include "runtime/seeing/metrics.hpp"

#include <cstdio>
#include <string>
#include <string_view>

namespace ddlrun::runtime {

class WholeFile {
 public:
  // Throws Error(request), as the others. An empty path writes nothing.
  WholeFile(std::string path, FileUse use);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::string_view text);
  void end();

 private:
  Error refusal() const;
  std::string beside() const { return path_ + ".tmp"; }

  std::string path_;
  FileUse use_;
  std::FILE* file_ = nullptr;
};

}  // namespace ddlrun::runtime
