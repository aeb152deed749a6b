// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/history.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

namespace ddlrun::schedulers {

namespace {

constexpr int kVersion = 3, kBusyMilliseconds = 15000;
constexpr int kApplication = 0x64646C72;  // "ddlr": another program's file is not written to

constexpr const char* kSchema =
    "CREATE TABLE jobs(row INTEGER PRIMARY KEY, id TEXT NOT NULL, scheduler TEXT NOT NULL, name TEXT NOT "
    "NULL,"
    " directory TEXT NOT NULL, submitted_at INTEGER NOT NULL, script_hash TEXT NOT NULL, state TEXT NOT NULL,"
    " exit_status INTEGER, ended_at INTEGER, hosts TEXT NOT NULL DEFAULT '', run_seconds INTEGER,"
    " cause TEXT NOT NULL DEFAULT '', queue TEXT NOT NULL DEFAULT '');"
    "CREATE INDEX jobs_by_id ON jobs(id);";
constexpr const char* kFromVersion1 =
    "ALTER TABLE jobs ADD COLUMN hosts TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE jobs ADD COLUMN run_seconds INTEGER;"
    "ALTER TABLE jobs ADD COLUMN cause TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE jobs ADD COLUMN queue TEXT NOT NULL DEFAULT '';";
constexpr const char* kFromVersion2 = "ALTER TABLE jobs ADD COLUMN queue TEXT NOT NULL DEFAULT '';";
constexpr const char* kColumns =
    "SELECT id, scheduler, name, directory, submitted_at, script_hash, state, exit_status, ended_at, "
    "hosts, run_seconds, cause, queue FROM jobs ";

std::string remedy_for(int code, const std::string& path) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return fmt::format("mv {} {}; the next submit makes a new one. The jobs themselves are not touched",
                         quote_shell(path), quote_shell(path + ".damaged"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return "another ddlrun process keeps it locked: try again later. If none does, the file system has no "
             "locks: set "
             "XDG_STATE_HOME to a directory that has";
    case SQLITE_FULL:
      return "make room on its file system (df, quota), or set XDG_STATE_HOME to another";
    default:
      return fmt::format("ls -l {}; or set XDG_STATE_HOME to a directory that you may write to",
                         quote_shell(path));
  }
}

class Statement {
 public:
  Statement(sqlite3* database, const std::string& path, const char* text) : database_(database), path_(path) {
    check(sqlite3_prepare_v2(database, text, -1, &statement_, nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(const std::string& text) {
    check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT));
  }
  void bind(std::int64_t number) { check(sqlite3_bind_int64(statement_, ++bound_, number)); }
  void bind(const std::optional<std::int64_t>& number) {
    if (number)
      bind(*number);
    else
      check(sqlite3_bind_null(statement_, ++bound_));
  }
  // Whether there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) check(code);
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return bytes == nullptr
               ? std::string()
               : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  std::optional<std::int64_t> optional_number(int column) const {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
    return number(column);
  }

 private:
  void check(int code) const {
    if (code == SQLITE_OK) return;
    throw Error(ErrorKind::request,
                {fmt::format("the job history cannot be used: {}", sqlite3_errmsg(database_)), path_,
                 remedy_for(code, path_)});
  }

  sqlite3* database_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

std::optional<std::int64_t> stored_seconds(const std::optional<std::uint64_t>& seconds) {
  return seconds ? std::optional(static_cast<std::int64_t>(*seconds)) : std::nullopt;
}

JobEntry read_entry(const Statement& row) {
  JobEntry entry;
  entry.id = row.text(0);
  entry.scheduler = row.text(1);
  entry.name = row.text(2);
  entry.dir = row.text(3);
  entry.submitted_at = row.number(4);
  entry.script_hash = row.text(5);
  entry.state = parse_job_state(row.text(6)).value_or(JobState::unknown);
  if (const auto status = row.optional_number(7)) entry.exit_status = static_cast<int>(*status);
  entry.ended_at = row.optional_number(8);
  entry.hosts = row.text(9);
  if (const auto seconds = row.optional_number(10)) entry.run_seconds = static_cast<std::uint64_t>(*seconds);
  entry.cause = row.text(11);
  entry.queue = row.text(12);
  return entry;
}

class SqliteHistory : public JobHistory {
 public:
  explicit SqliteHistory(std::string path) : path_(std::move(path)) {
    const int code =
        sqlite3_open_v2(path_.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    if (code != SQLITE_OK) {
      const std::string why = sqlite3_errmsg(database_);
      sqlite3_close(database_);
      throw Error(ErrorKind::request,
                  {fmt::format("the job history cannot be opened: {}", why), path_, remedy_for(code, path_)});
    }
    try {
      prepare();
    } catch (...) {
      sqlite3_close(database_);
      throw;
    }
  }
  ~SqliteHistory() override { sqlite3_close(database_); }
  SqliteHistory(const SqliteHistory&) = delete;
  SqliteHistory& operator=(const SqliteHistory&) = delete;

  void add(const JobEntry& entry) override {
    Statement insert(
        database_, path_,
        "INSERT INTO jobs(id, scheduler, name, directory, submitted_at, script_hash, state, exit_status,"
        " ended_at, hosts, run_seconds, cause, queue) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
    insert.bind(entry.id);
    insert.bind(entry.scheduler);
    insert.bind(entry.name);
    insert.bind(entry.dir);
    insert.bind(entry.submitted_at);
    insert.bind(entry.script_hash);
    insert.bind(std::string(name_of(entry.state)));
    insert.bind(entry.exit_status ? std::optional<std::int64_t>(*entry.exit_status) : std::nullopt);
    insert.bind(entry.ended_at);
    insert.bind(entry.hosts);
    insert.bind(stored_seconds(entry.run_seconds));
    insert.bind(entry.cause);
    insert.bind(entry.queue);
    insert.step();
  }

  bool update(const JobStatus& status, std::int64_t now) override {
    // One statement, so that two that watch the same job cannot overtake each other.
    Statement change(database_, path_,
                     "UPDATE jobs SET state=?1, exit_status=ifnull(?2, exit_status), ended_at=?3,"
                     " hosts=CASE ?5 WHEN '' THEN hosts ELSE ?5 END, run_seconds=?6,"
                     " queue=CASE ?7 WHEN '' THEN queue ELSE ?7 END,"
                     " cause=CASE ?8 WHEN '' THEN cause ELSE ?8 END"
                     " WHERE row=(SELECT max(row) FROM jobs WHERE id=?4) AND ended_at IS NULL");
    const bool over = is_over(status.state);
    change.bind(std::string(name_of(status.state)));
    change.bind(status.exit_status ? std::optional<std::int64_t>(*status.exit_status) : std::nullopt);
    change.bind(over ? std::optional<std::int64_t>(now) : std::nullopt);
    change.bind(status.id);
    change.bind(status.hosts);
    change.bind(over ? stored_seconds(status.run_seconds) : std::nullopt);
    change.bind(status.queue);
    change.bind(status.state == JobState::cancelled ? status.clear_reason() : std::string());
    change.step();
    return sqlite3_changes(database_) > 0 || find(status.id).has_value();
  }

  void note_end(const JobId& id, const std::string& cause, std::optional<int> exit_status) override {
    Statement change(database_, path_,
                     "UPDATE jobs SET cause=?1, exit_status=ifnull(?2, exit_status)"
                     " WHERE row=(SELECT max(row) FROM jobs WHERE id=?3) AND ended_at IS NOT NULL");
    change.bind(cause);
    change.bind(exit_status ? std::optional<std::int64_t>(*exit_status) : std::nullopt);
    change.bind(id);
    change.step();
  }

  std::vector<JobEntry> find_short(const std::string& number) override {
    Statement query(database_, path_,
                    (std::string(kColumns) +
                     "WHERE row IN (SELECT max(row) FROM jobs WHERE substr(id, 1, length(?1) + 1) = ?1 || '.'"
                     " OR substr(id, 1, length(?1) + 3) = ?1 || '[].' GROUP BY id) ORDER BY row DESC")
                        .c_str());
    query.bind(number);
    std::vector<JobEntry> entries;
    while (query.step()) entries.push_back(read_entry(query));
    return entries;
  }

  std::size_t forget_before(std::int64_t time) override {
    constexpr std::int64_t unseen_end = 30 * 86400;
    Statement change(
        database_, path_,
        "DELETE FROM jobs WHERE (submitted_at < ?1 AND ended_at IS NOT NULL) OR submitted_at < ?2");
    change.bind(time);
    change.bind(time - unseen_end);
    change.step();
    return static_cast<std::size_t>(sqlite3_changes(database_));
  }

  std::vector<JobEntry> recent(std::size_t most) override {
    Statement query(database_, path_, (std::string(kColumns) + "ORDER BY row DESC LIMIT ?").c_str());
    query.bind(static_cast<std::int64_t>(most));
    std::vector<JobEntry> entries;
    while (query.step()) entries.push_back(read_entry(query));
    return entries;
  }

  std::optional<JobEntry> find(const JobId& id) override {
    Statement query(database_, path_,
                    (std::string(kColumns) + "WHERE id=? ORDER BY row DESC LIMIT 1").c_str());
    query.bind(id);
    if (!query.step()) return std::nullopt;
    return read_entry(query);
  }

 private:
  void run(const char* text) { Statement(database_, path_, text).step(); }

  std::int64_t ask(const char* text) {
    Statement query(database_, path_, text);
    return query.step() ? query.number(0) : 0;
  }

  // No write-ahead log: its shared memory does not work between hosts that share a home directory.
  void prepare() {
    sqlite3_busy_timeout(database_, kBusyMilliseconds);
    if (check_version() == kVersion) return;
    run("BEGIN IMMEDIATE");
    const std::int64_t found = ask("PRAGMA user_version");
    if (found < kVersion) {  // no other process made it meanwhile
      const char* const changes = found == 0 ? kSchema : found == 1 ? kFromVersion1 : kFromVersion2;
      const int code = sqlite3_exec(database_, changes, nullptr, nullptr, nullptr);
      if (code != SQLITE_OK)
        throw Error(ErrorKind::request,
                    {fmt::format("the job history cannot be made: {}", sqlite3_errmsg(database_)), path_,
                     remedy_for(code, path_)});
      run(fmt::format("PRAGMA application_id={}", kApplication).c_str());
      run(fmt::format("PRAGMA user_version={}", kVersion).c_str());
    }
    run("COMMIT");
  }

  // One statement: another ddlrun may be making the file, and its half would look like another program's.
  std::int64_t check_version() {
    Statement query(database_, path_,
                    "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master) = 0"
                    " FROM pragma_user_version, pragma_application_id");
    query.step();
    const std::int64_t version = query.number(0), application = query.number(1);
    const bool empty = query.number(2) != 0;
    if (application != kApplication && !(empty && application == 0))
      throw Error(ErrorKind::request, {"this is a database of another program, not a job history", path_,
                                       "set XDG_STATE_HOME to a directory of its own"});
    if (version > kVersion)
      throw Error(ErrorKind::request,
                  {fmt::format("the job history has version {}, this ddlrun supports {}", version, kVersion),
                   path_, "use the newer ddlrun that wrote it, or set XDG_STATE_HOME to another directory"});
    return version;
  }

  std::string path_;
  sqlite3* database_ = nullptr;
};

}  // namespace

std::unique_ptr<JobHistory> open_job_history(const std::string& path) {
  return std::make_unique<SqliteHistory>(path);
}

}  // namespace ddlrun::schedulers
