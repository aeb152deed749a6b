// SPDX-License-Identifier: MIT
// POSIX shared memory under an unpredictable name, which exists only until all have opened it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ddl {

// A name in /dev/shm; removed with this, if not before, also by those who only open it. All ranks have it before
// one makes the file: if that rank is killed, nothing is left.
class ShmName {
 public:
  ShmName() = default;
  static ShmName random();
  // Empty if random() of libddl did not make `text`: another rank must not choose any other file of the user.
  static ShmName of_peer(const std::string& text);
  ~ShmName() { remove(); }
  ShmName(ShmName&& other) noexcept : name_(std::move(other.name_)) { other.name_.clear(); }
  ShmName& operator=(ShmName&& other) noexcept {
    name_.swap(other.name_);
    return *this;
  }
  const std::string& text() const { return name_; }
  void remove() noexcept;

 private:
  explicit ShmName(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

// Memory mapped here.
class ShmSegment {
 public:
  ShmSegment() = default;
  ~ShmSegment() { unmap(); }
  ShmSegment(ShmSegment&& other) noexcept : fd_(other.fd_), bytes_(other.bytes_) {
    other.fd_ = -1;
    other.bytes_ = {};
  }
  ShmSegment& operator=(ShmSegment&& other) noexcept;

  // All three return 0 or an errno. Zeroed, of mode 600.
  int create(const ShmName& name, std::size_t bytes);
  // EPERM if create() of this user did not make it.
  int open(const ShmName& name, std::size_t bytes);
  // Takes the pages of this part now, near this rank: later there may be none left, and a write would kill.
  int reserve(std::size_t first, std::size_t count);
  void close_file() noexcept;  // the memory stays

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  int map(std::size_t bytes);
  void unmap() noexcept;

  int fd_ = -1;
  std::span<std::byte> bytes_;
};

}  // namespace ddl
