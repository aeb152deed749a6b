// SPDX-License-Identifier: MIT
// The part of metrics.hpp that touches the disk.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/write_remedy.hpp"
#include "runtime/telemetry/metrics.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t most_waiting = std::size_t{16} << 20U;

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
  const int code = errno;
  return {
      ErrorKind::request,
      {fmt::format("{} {}: {}", use_.what, what, std::strerror(code)), use_.option + " " + printable(path_),
       write_remedy(code, path_) + "; or " + use_.option + " elsewhere"}};
}

MetricsFile::MetricsFile(const std::string& path, bool append) : MetricsFile(path, FilePurpose{}, append) {}

MetricsFile::MetricsFile(const std::string& path, FilePurpose use, bool append)
    : path_(path), use_(std::move(use)), last_flush_(metrics_now()) {
  if (path_.empty()) return;
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | (append ? 0 : O_TRUNC) | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) throw refusal("cannot be opened");
}

MetricsFile::~MetricsFile() {
  if (fd_ < 0) return;
  write_pending();  // best effort: a run that ends well has called finish(), one that fails prints its own
                    // error
  close(fd_);
}

void MetricsFile::write(const std::string& record) { write_bytes(record + "\n"); }

void MetricsFile::write_bytes(const std::string& record) {
  if (fd_ < 0) return;
  if (pending_.size() > most_waiting) {
    ++left_out_;
    return;
  }
  pending_ += record;
  if (metrics_now() - last_flush_ > 1.0) flush();
}

// Writes as much as the disk accepts and keeps the rest, so that records stay complete. Sets errno.
bool MetricsFile::write_pending() {
  std::size_t done = 0;
  bool taken = true;
  while (taken && done < pending_.size()) {
    const ssize_t count = ::write(fd_, pending_.data() + done, pending_.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else {
      taken = errno == EINTR;
    }
  }
  const int code = errno;
  pending_.erase(0, done);
  last_flush_ = metrics_now();
  errno = code;
  return taken;
}

void MetricsFile::flush() {
  if (fd_ < 0) return;
  if (write_pending()) {
    begun_ = true;
    return;
  }
  const Error why = refusal("cannot be written");
  if (!begun_) {
    pending_.clear();
    throw Error(why);
  }
  if (!warned_) fmt::print(stderr, "{}", render_message("ddl-train", "warning", why.message()));
  warned_ = true;
}

void MetricsFile::finish() {
  if (fd_ < 0) return;
  if (!write_pending()) {
    const Error why = refusal("cannot be written");
    pending_.clear();
    throw Error(why);
  }
  if (left_out_ == 0) return;
  throw Error(ErrorKind::request,
              {fmt::format("{} lacks {} record(s) that could not be written", use_.what, left_out_),
               use_.option + " " + printable(path_), "df -h " + quote_shell(path_)});
}

}  // namespace ddlrun::runtime
