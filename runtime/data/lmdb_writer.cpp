// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/write_remedy.hpp"
#include "runtime/data/lmdb_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <lmdb.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace ddlrun::runtime {

namespace {

constexpr const char* unfinished_name = "unfinished";  // no data.mdb yet

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Error refuse_directory(const std::string& directory, const std::string& what, int code) {
  return {ErrorKind::request,
          {fmt::format("{}: {}", what, std::strerror(code)), printable(directory),
           code == EEXIST ? fmt::format("another name, such as {}   # or inspect it: ls -l {}",
                                        quote_shell(directory + "-2"), quote_shell(directory))
                          : write_remedy(code, directory)}};
}

// The directory in which it grows, for this process alone. What a killed one left in it goes.
int take_directory(const std::string& part) {
  if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST)
    throw refuse_directory(part, "the directory cannot be created", errno);
  const int directory = open(part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) throw refuse_directory(part, "the directory cannot be opened", errno);
  if (flock(directory, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(directory);
    throw Error(ErrorKind::request,
                {"another process is writing this LMDB", printable(part), "another name for TO"});
  }
  unlinkat(directory, unfinished_name, 0);
  return directory;
}

}  // namespace

class LmdbWriter::Store {
 public:
  Store(const std::string& directory, std::size_t expected_bytes)
      : directory_(without_slashes(directory)),
        part_(directory_ + ".part"),
        file_(part_ + "/" + unfinished_name) {
    struct stat status {};
    if (lstat(directory_.c_str(), &status) == 0)
      throw refuse_directory(directory_, "the directory cannot be created", EEXIST);
    held_ = take_directory(part_);
    try {
      require(mdb_env_create(&environment_));
      require(mdb_env_set_mapsize(environment_, expected_bytes));
      // Without LMDB's own lock file: it is mapped, and a write to it on a full disk ends the process.
      require(mdb_env_open(environment_, file_.c_str(), MDB_NOSUBDIR | MDB_NOLOCK, 0666));
      begin();
    } catch (...) {
      close_all();
      throw;
    }
  }
  ~Store() { close_all(); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  void put(const std::string& key, std::span<const std::uint8_t> record) {
    MDB_val name{key.size(), const_cast<char*>(key.data())};  // LMDB's structure is for reading, too
    MDB_val value{record.size(), const_cast<std::uint8_t*>(record.data())};
    require(mdb_put(transaction_, database_, &name, &value, MDB_APPEND));
    if (++waiting_ < records_a_commit) return;
    commit();
    begin();
  }

  void commit() {
    MDB_txn* done = transaction_;
    transaction_ = nullptr;
    waiting_ = 0;
    require(mdb_txn_commit(done));
  }

  // All of it is on the disk: now it may have its names.
  void finish() {
    commit();
    mdb_env_close(std::exchange(environment_, nullptr));
    const std::string data = part_ + "/data.mdb";
    if (std::rename(file_.c_str(), data.c_str()) != 0)
      throw refuse_directory(data, "the file cannot be renamed", errno);
    if (std::rename(part_.c_str(), directory_.c_str()) != 0) {
      const int code = errno;
      unlink(data.c_str());
      throw refuse_directory(directory_, "the directory cannot be renamed", code);
    }
    fsync(held_);
    finished_ = true;
  }

 private:
  static constexpr std::size_t records_a_commit = 1000;  // as Caffe's converters

  void require(int code) const {
    if (code == MDB_SUCCESS) return;
    // A full disk may cut a write short, which LMDB calls an input/output error.
    struct statvfs disk {};
    const std::uint64_t room = statvfs(part_.c_str(), &disk) == 0 ? disk.f_bavail * disk.f_frsize : 0;
    throw Error(ErrorKind::request,
                {fmt::format("the LMDB cannot be written: {} ({} free on that disk)", mdb_strerror(code),
                             render_bytes(room)),
                 printable(directory_), write_remedy(code == EIO && room == 0 ? ENOSPC : code, part_)});
  }
  void begin() {
    require(mdb_txn_begin(environment_, nullptr, 0, &transaction_));
    require(mdb_dbi_open(transaction_, nullptr, 0, &database_));
  }
  void close_all() {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
    if (environment_ != nullptr) mdb_env_close(environment_);
    transaction_ = nullptr;
    environment_ = nullptr;
    if (held_ >= 0 && !finished_) {
      unlink(file_.c_str());
      rmdir(part_.c_str());
    }
    if (held_ >= 0) close(held_);
    held_ = -1;
  }

  std::string directory_;
  std::string part_;
  std::string file_;
  int held_ = -1;  // the part, open and locked
  bool finished_ = false;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi database_ = 0;
  std::size_t waiting_ = 0;
};

LmdbWriter::LmdbWriter(const std::string& directory, std::size_t expected_bytes)
    : store_(std::make_unique<Store>(directory, expected_bytes)) {}
LmdbWriter::~LmdbWriter() = default;

void LmdbWriter::put(const std::string& key, std::span<const std::uint8_t> record) {
  store_->put(key, record);
}
void LmdbWriter::finish() { store_->finish(); }

}  // namespace ddlrun::runtime
