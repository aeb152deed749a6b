// SPDX-License-Identifier: MIT
#include "ddl/node/shm_segment.hpp"

#include "ddl/core/openssl_hmac.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace ddl {

namespace {

constexpr std::string_view name_start = "/libddl-";
constexpr std::size_t name_digits = 32;

}  // namespace

ShmName ShmName::random() {
  std::array<std::byte, name_digits / 2> random{};
  fill_random(random);
  std::string text(name_start);
  for (const std::byte each : random) text += fmt::format("{:02x}", static_cast<unsigned>(each));
  return ShmName(text);
}

ShmName ShmName::of_peer(const std::string& text) {
  const bool is_ours = text.starts_with(name_start) && text.size() == name_start.size() + name_digits &&
                       text.find_first_not_of("0123456789abcdef", name_start.size()) == text.npos;
  return is_ours ? ShmName(text) : ShmName();
}

void ShmName::remove() noexcept {
  if (!name_.empty()) shm_unlink(name_.c_str());
  name_.clear();
}

ShmSegment& ShmSegment::operator=(ShmSegment&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

int ShmSegment::create(const ShmName& name, std::size_t bytes) {
  fd_ = shm_open(name.text().c_str(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (fd_ < 0) return errno;
  if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) return errno;
  return map(bytes);
}

int ShmSegment::open(const ShmName& name, std::size_t bytes) {
  if (name.text().empty()) return EPERM;
  fd_ = shm_open(name.text().c_str(), O_RDWR, 0);
  if (fd_ < 0) return errno;
  struct stat found {};
  if (fstat(fd_, &found) != 0) return errno;
  if (found.st_uid != geteuid() || static_cast<std::size_t>(found.st_size) != bytes) return EPERM;
  return map(bytes);
}

int ShmSegment::map(std::size_t bytes) {
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (start == MAP_FAILED) return errno;
  bytes_ = {static_cast<std::byte*>(start), bytes};
  return 0;
}

int ShmSegment::reserve(std::size_t first, std::size_t count) {
  int problem = 0;
  do {
    problem = posix_fallocate(fd_, static_cast<off_t>(first), static_cast<off_t>(count));
  } while (problem == EINTR);
  return problem;
}

void ShmSegment::close_file() noexcept {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

void ShmSegment::unmap() noexcept {
  close_file();
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  bytes_ = {};
}

}  // namespace ddl
