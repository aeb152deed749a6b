// SPDX-License-Identifier: MIT
#include "runtime/telemetry/atomic_file.hpp"

#include "base/os/replaced_path.hpp"
#include "base/text/text.hpp"
#include "base/text/write_remedy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace ddlrun::runtime {
namespace {

bool sync_file(std::FILE* file) {
  while (fsync(fileno(file)) != 0) {
    if (errno == EINVAL) return true;  // a file system that cannot
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace

AtomicFile::AtomicFile(std::string path, FilePurpose use) : path_(std::move(path)), use_(std::move(use)) {
  if (!path_.empty()) open_target();
}

void AtomicFile::open_target() {
  const ReplacedPath replaced(path_);
  if (replaced.error() != 0) throw refusal(replaced.error());
  const bool there = replaced.exists();
  const struct stat& status = replaced.status();
  if (there && S_ISDIR(status.st_mode)) throw refusal(EISDIR);
  const int stream = there ? find_own_stream(status) : -1;
  int file = -1;
  if (stream >= 0) {
    file = fcntl(stream, F_DUPFD_CLOEXEC, 0);
  } else if (there && !S_ISREG(status.st_mode)) {
    file = replaced.open_for_writing();
  } else {
    if (there && access(replaced.path().c_str(), W_OK) != 0) throw refusal(errno);
    target_ = replaced.path();
    beside_ = fmt::format("{}.tmp.{}", target_, getpid());
    unlink(beside_.c_str());  // of one that was killed with the same number
    file = open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0 && replaced.keeps_mode()) fchmod(file, status.st_mode & 07777U);
  }
  if (file < 0) throw refusal(errno);
  file_ = fdopen(file, "w");
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

Error AtomicFile::refusal(int code) const {
  std::string name = use_.option.substr(use_.option.find_first_not_of('-'));
  if (name.ends_with("-json")) name.resize(name.size() - 5);
  name += ".json";
  return {ErrorKind::request,
          {fmt::format("{} cannot be written: {}", use_.what, std::strerror(code)),
           fmt::format("{} {}", use_.option, printable(path_)),
           code == EISDIR ? fmt::format("{} {}", use_.option,
                                        quote_shell((std::filesystem::path(path_) / name).string()))
                          : write_remedy(code, path_) + "; or " + use_.option + " elsewhere"}};
}

void AtomicFile::write(std::string_view text) {
  if (file_ != nullptr && std::fwrite(text.data(), 1, text.size(), file_) != text.size())
    throw refusal(errno);
}

void AtomicFile::end() {
  std::FILE* const file = std::exchange(file_, nullptr);
  if (file == nullptr) return;
  bool written = std::fflush(file) == 0 && (beside_.empty() || sync_file(file));
  int code = errno;
  if (std::fclose(file) != 0 && written) {
    written = false;
    code = errno;
  }
  if (written && (beside_.empty() || std::rename(beside_.c_str(), target_.c_str()) == 0)) return;
  if (written) code = errno;
  if (!beside_.empty()) unlink(beside_.c_str());
  throw refusal(code);
}

void check_atomic_file(const std::string& path, const FilePurpose& use) {
  struct stat status {};
  const bool there = !path.empty() && stat(path.c_str(), &status) == 0;
  // Not opened twice: the reader of a pipe takes the first close for the end.
  const bool through = there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  if (!through || access(path.c_str(), W_OK) != 0) const AtomicFile tried(path, use);
}

}  // namespace ddlrun::runtime
