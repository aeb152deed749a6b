// SPDX-License-Identifier: MIT
#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/data/lmdb_source.hpp"

#include <fmt/format.h>
#include <lmdb.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace ddlrun::runtime {

class LmdbWriter::Store {
 public:
  Store(const std::string& folder, std::size_t expected_bytes) : folder_(folder) {
    if (mkdir(folder.c_str(), 0755) != 0) {
      throw Error(ErrorKind::request, {fmt::format("the folder cannot be made: {}", std::strerror(errno)),
                                       printable(folder), "ls -ld " + quote_shell(folder)});
    }
    try {
      require(mdb_env_create(&environment_));
      require(mdb_env_set_mapsize(environment_, expected_bytes));
      require(mdb_env_open(environment_, folder.c_str(), 0, 0644));
      begin();
    } catch (...) {
      close();
      throw;
    }
  }
  ~Store() { close(); }
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

 private:
  static constexpr std::size_t records_a_commit = 1000;  // as Caffe's converters

  void require(int code) const {
    if (code == MDB_SUCCESS) return;
    throw Error(ErrorKind::request, {fmt::format("the LMDB cannot be written: {}", mdb_strerror(code)),
                                     printable(folder_), "df -h " + quote_shell(folder_)});
  }
  void begin() {
    require(mdb_txn_begin(environment_, nullptr, 0, &transaction_));
    require(mdb_dbi_open(transaction_, nullptr, 0, &database_));
  }
  void close() {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
    if (environment_ != nullptr) mdb_env_close(environment_);
    transaction_ = nullptr;
    environment_ = nullptr;
  }

  std::string folder_;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi database_ = 0;
  std::size_t waiting_ = 0;
};

LmdbWriter::LmdbWriter(const std::string& folder, std::size_t expected_bytes)
    : store_(std::make_unique<Store>(folder, expected_bytes)) {}
LmdbWriter::~LmdbWriter() = default;

void LmdbWriter::put(const std::string& key, std::span<const std::uint8_t> record) {
  store_->put(key, record);
}
void LmdbWriter::finish() { store_->commit(); }

}  // namespace ddlrun::runtime
