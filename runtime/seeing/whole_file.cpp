// SPDX-License-Identifier: MIT
#include "runtime/seeing/whole_file.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace ddlrun::runtime {

WholeFile::WholeFile(std::string path, FileUse use) : path_(std::move(path)), use_(std::move(use)) {
  if (path_.empty()) return;
  file_ = std::fopen(beside().c_str(), "we");
  if (file_ == nullptr) throw refusal();
}

WholeFile::~WholeFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(beside().c_str());
}

Error WholeFile::refusal() const {
  return {ErrorKind::request,
          {fmt::format("{} cannot be written: {}", use_.what, std::strerror(errno)),
           fmt::format("{} {}", use_.option, printable(path_)),
           use_.option + " with a path that can be written, on a disk with room"}};
}

void WholeFile::write(std::string_view text) {
  if (file_ != nullptr && std::fwrite(text.data(), 1, text.size(), file_) != text.size()) throw refusal();
}

void WholeFile::end() {
  if (file_ == nullptr) return;
  if (std::fflush(file_) != 0 || std::rename(beside().c_str(), path_.c_str()) != 0) throw refusal();
  std::fclose(file_);
  file_ = nullptr;
}

}  // namespace ddlrun::runtime
