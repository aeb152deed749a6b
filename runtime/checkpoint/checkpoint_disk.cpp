// SPDX-License-Identifier: MIT
#include "runtime/checkpoint/checkpoint_disk.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/write_remedy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

namespace ddlrun::runtime {
namespace {

Error disk_refuses(const std::string& path, const char* what, int code) {
  return {ErrorKind::request,
          {fmt::format("{}: {}", what, std::strerror(code)), printable(path),
           write_remedy(code, path) + (code == EFBIG ? "" : "; or --checkpoint DIR elsewhere")}};
}

// An open file that is closed at the end. What close() would report, fsync() has reported before.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

void sync_or_refuse(const Descriptor& file, const std::string& path) {
  while (::fsync(file.get()) != 0) {
    if (errno != EINTR) throw disk_refuses(path, "it cannot be synced to disk", errno);
  }
}

class PosixFile : public CheckpointFile {
 public:
  explicit PosixFile(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)) {
    if (file_.get() < 0) throw disk_refuses(path, "the file cannot be created", errno);
  }

  void append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_.get(), bytes.data(), std::min(bytes.size(), largest_write));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw disk_refuses(path_, "the file cannot be written", count < 0 ? errno : ENOSPC);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  void sync() override { sync_or_refuse(file_, path_); }

 private:
  static constexpr std::size_t largest_write = std::size_t{1} << 30;
  std::string path_;
  Descriptor file_;
};

bool refuses_writing(int code) { return code == EACCES || code == EPERM || code == EROFS; }

// Of the open file, not of the process: closing another of its descriptors keeps it, and NFS knows it too.
int try_file_lock(const Descriptor& file, short type) {
  struct flock whole {};
  whole.l_type = type;
  whole.l_whence = SEEK_SET;
  while (::fcntl(file.get(), F_OFD_SETLK, &whole) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

std::string read_lock_holder(const Descriptor& file) {
  std::array<char, 300> text{};
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

// Only informative: the lock also holds on a full disk.
void write_lock_holder(const Descriptor& file) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string words = fmt::format("{} {}\n", host.data(), ::getpid());
  [[maybe_unused]] const bool written =
      ::ftruncate(file.get(), 0) == 0 && ::pwrite(file.get(), words.data(), words.size(), 0) > 0;
}

class PosixDisk : public CheckpointDisk {
 public:
  void create_directory(const std::string& path) override {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code) throw disk_refuses(path, "the directory cannot be created", code.value());
    const std::string parent = std::filesystem::absolute(path, code).parent_path().string();
    const Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() >= 0) ::fsync(directory.get());  // its name; a parent of others may refuse
  }

  std::unique_ptr<CheckpointFile> create(const std::string& path) override {
    return std::make_unique<PosixFile>(path);
  }

  void rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) throw disk_refuses(to, "the file cannot be renamed", errno);
  }

  void sync_directory(const std::string& path) override {
    const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() < 0) throw disk_refuses(path, "the directory cannot be opened", errno);
    // Some file systems cannot sync directories and say EINVAL; there is nothing better to do then.
    if (::fsync(directory.get()) != 0 && errno != EINVAL && errno != EINTR)
      throw disk_refuses(path, "the directory cannot be synced to disk", errno);
  }

  void remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
      throw disk_refuses(path, "the file cannot be removed", errno);
  }

  LockResult lock(const std::string& path) override {
    if (locks_.contains(path)) return {};
    constexpr int flags = O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    auto file = std::make_unique<Descriptor>(::open(path.c_str(), O_RDWR | flags, 0666));
    // The lock file of another user still shows whether the holder is alive.
    const int refusal = file->get() < 0 ? errno : 0;
    const bool foreign = refuses_writing(refusal);
    if (foreign) file = std::make_unique<Descriptor>(::open(path.c_str(), O_RDONLY | (flags & ~O_CREAT)));
    if (file->get() < 0) throw disk_refuses(path, "the lock file cannot be opened", refusal);
    const int code = try_file_lock(*file, foreign ? F_RDLCK : F_WRLCK);
    if (code == EAGAIN || code == EACCES) return {LockResult::State::others, read_lock_holder(*file)};
    if (code != 0 || foreign) {
      locks_[path] = nullptr;  // repeated calls succeed without a second note
      return {LockResult::State::impossible, code != 0 ? std::strerror(code) : "it belongs to another user"};
    }
    write_lock_holder(*file);
    locks_[path] = std::move(file);
    return {};
  }

  std::vector<std::string> list(const std::string& path) const override {
    std::vector<std::string> names;
    std::error_code code;
    std::filesystem::directory_iterator at(path, code);
    for (const std::filesystem::directory_iterator end; !code && at != end; at.increment(code))
      names.push_back(at->path().filename().string());
    if (code && code != std::errc::no_such_file_or_directory)
      throw disk_refuses(path, "the directory cannot be read", code.value());
    return names;
  }

  std::optional<std::uint64_t> size(const std::string& path) const override {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    return static_cast<std::uint64_t>(facts.st_size);
  }

  void read(const std::string& path, std::uint64_t offset, std::span<std::byte> bytes) const override {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) throw disk_refuses(path, "the file cannot be opened", errno);
    while (!bytes.empty()) {
      const ssize_t count = ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw disk_refuses(path, "the file cannot be read to its end", count < 0 ? errno : EIO);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
    }
  }

 private:
  std::map<std::string, std::unique_ptr<Descriptor>> locks_;
};

}  // namespace

std::unique_ptr<CheckpointDisk> make_posix_disk() { return std::make_unique<PosixDisk>(); }

}  // namespace ddlrun::runtime
