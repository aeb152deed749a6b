// SPDX-License-Identifier: MIT
// The part of metrics.hpp that touches the disk.
#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/seeing/metrics.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace ddlrun::runtime {
namespace {

double metrics_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

Error MetricsFile::refusal(const char* what) const {
  return {
      ErrorKind::request,
      {fmt::format("{} {}: {}", use_.what, what, std::strerror(errno)), use_.option + " " + printable(path_),
       use_.option + " with a path that can be written, on a disk with room"}};
}

MetricsFile::MetricsFile(const std::string& path, bool append) : MetricsFile(path, FileUse{}, append) {}

MetricsFile::MetricsFile(const std::string& path, FileUse use, bool append)
    : path_(path), use_(std::move(use)), last_flush_(metrics_now()) {
  if (path_.empty()) return;
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | (append ? 0 : O_TRUNC) | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) throw refusal("cannot be opened");
}

MetricsFile::~MetricsFile() {
  if (file_ < 0) return;
  try {
    flush();
  } catch (const Error&) {  // a run that ends well has flushed before; one that fails has its own message
  }
  close(file_);
}

void MetricsFile::write(const std::string& record) { write_bytes(record + "\n"); }

void MetricsFile::write_bytes(const std::string& record) {
  if (file_ < 0) return;
  pending_ += record;
  if (metrics_now() - last_flush_ > 1.0) flush();
}

void MetricsFile::flush() {
  if (file_ < 0) return;
  std::size_t done = 0;
  while (done < pending_.size()) {
    const ssize_t count = ::write(file_, pending_.data() + done, pending_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      pending_.clear();
      throw refusal("cannot be written");
    }
    done += static_cast<std::size_t>(count);
  }
  pending_.clear();
  last_flush_ = metrics_now();
}

}  // namespace ddlrun::runtime
