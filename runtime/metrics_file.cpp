// SPDX-License-Identifier: MIT
// The part of metrics.hpp that touches the disk.
#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/metrics.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace ddlrun::runtime {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Error refuse_metrics(const std::string& path, const char* what) {
  return {ErrorKind::request,
          {fmt::format("{}: {}", what, std::strerror(errno)), "--metrics " + printable(path),
           "--metrics /tmp/metrics.jsonl"}};
}

}  // namespace

MetricsFile::MetricsFile(const std::string& path, bool append) : path_(path), last_flush_(now()) {
  if (path_.empty()) return;
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | (append ? 0 : O_TRUNC) | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) throw refuse_metrics(path_, "the metrics file cannot be opened");
}

MetricsFile::~MetricsFile() {
  if (file_ < 0) return;
  try {
    flush();
  } catch (const Error&) {  // a run that ends well has flushed before; one that fails has its own message
  }
  close(file_);
}

void MetricsFile::write(const std::string& record) {
  if (file_ < 0) return;
  pending_ += record + "\n";
  if (now() - last_flush_ > 1.0) flush();
}

void MetricsFile::flush() {
  if (file_ < 0) return;
  std::size_t done = 0;
  while (done < pending_.size()) {
    const ssize_t count = ::write(file_, pending_.data() + done, pending_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      pending_.clear();
      throw refuse_metrics(path_, "the metrics file cannot be written");
    }
    done += static_cast<std::size_t>(count);
  }
  pending_.clear();
  last_flush_ = now();
}

}  // namespace ddlrun::runtime
