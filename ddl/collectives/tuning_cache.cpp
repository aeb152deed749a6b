// SPDX-License-Identifier: MIT
#include "ddl/collectives/tuning_cache.hpp"

#include "ddl/core/rank_consistency.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

namespace ddl {
namespace {

constexpr std::string_view cache_magic = "ddlrun.explore/1";
constexpr int max_width = 64;  // of a number of bytes

// "node12" and "node7" are of one kind.
std::string host_pattern(const std::string& host) {
  std::string pattern;
  for (const char c : host) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && pattern.ends_with('#')) continue;
    pattern += digit ? '#' : c;
  }
  return pattern;
}

std::string take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// "20 r"
bool parse_tuning_line(const std::string& line, TunedAlgorithms& algorithms) {
  int width = 0;
  const char* const end = line.data() + line.size();
  const auto [at, code] = std::from_chars(line.data(), end, width);
  if (code != std::errc{} || end - at != 2 || *at != ' ' || width < 0 || width > max_width) return false;
  const auto algorithm = static_cast<Mode>(at[1]);
  if (std::find(AlgorithmTuner::algorithms.begin(), AlgorithmTuner::algorithms.end(), algorithm) ==
      AlgorithmTuner::algorithms.end())
    return false;
  return algorithms.emplace(width, algorithm).second;
}

class CacheFile {
 public:
  CacheFile(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~CacheFile() {
    if (number_ >= 0) ::close(number_);
  }
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

// 0, or why it cannot be written.
int write_beside(const std::string& beside, const std::string& path, const std::string& text) {
  {
    const CacheFile file(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (file.get() < 0) return errno;
    errno = ENOSPC;
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return errno;
    if (::fsync(file.get()) != 0) return errno;
  }
  return ::rename(beside.c_str(), path.c_str()) == 0 ? 0 : errno;
}

}  // namespace

std::string render_topology(const Grid& grid, const Options& options, std::string_view instructions) {
  std::set<std::string> patterns;
  for (const std::string& host : grid.hosts) patterns.insert(host_pattern(host));
  std::string hosts;
  for (const std::string& pattern : patterns) hosts += pattern + " ";
  return fmt::format("{}{} hosts, {} ranks, dims {}, wire {}, {}, libddl {}", hosts, grid.hosts.size(),
                     grid.host_of.size(), grid.text(), name_of(options.wire.value_or(DataType::float32)),
                     instructions, DDL_VERSION);
}

std::string render_tuning(const std::string& topology, const TunedAlgorithms& algorithms) {
  std::string text = fmt::format("{}\n{}\n", cache_magic, topology);
  for (const auto& [width, algorithm] : algorithms)
    text += fmt::format("{} {}\n", width, static_cast<char>(algorithm));
  return text + fmt::format("sum {:016x}\n", hash_text(text));
}

std::optional<TunedAlgorithms> parse_tuning(std::string_view text, const std::string& topology) {
  std::string_view rest = text;
  if (take_line(rest) != cache_magic || take_line(rest) != topology) return std::nullopt;
  TunedAlgorithms algorithms;
  while (!rest.empty()) {
    const std::size_t here = text.size() - rest.size();
    const std::string line = take_line(rest);
    if (line.starts_with("sum ")) {
      const bool whole = line == fmt::format("sum {:016x}", hash_text(text.substr(0, here)));
      return whole && rest.empty() ? std::optional(algorithms) : std::nullopt;
    }
    if (!parse_tuning_line(line, algorithms)) return std::nullopt;
  }
  return std::nullopt;
}

std::string choose_cache_dir(const std::optional<std::string>& wished) {
  const auto value = [](const char* name) -> std::string {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
    return text == nullptr ? "" : text;
  };
  if (value("DDL_CACHE") == "off") return "";
  if (wished) return *wished;
  if (value("XDG_CACHE_HOME").starts_with('/')) return value("XDG_CACHE_HOME") + "/ddlrun/explore";
  return value("HOME").starts_with('/') ? value("HOME") + "/.cache/ddlrun/explore" : "";
}

TuningCache::TuningCache(std::string directory, std::string topology)
    : topology_(std::move(topology)), directory_(std::move(directory)) {
  if (!directory_.empty()) path_ = fmt::format("{}/{:016x}", directory_, hash_text(topology_));
}

std::optional<TunedAlgorithms> TuningCache::load() {
  if (path_.empty()) return std::nullopt;
  const CacheFile file(path_, O_RDONLY | O_NONBLOCK);
  if (file.get() < 0) {
    if (errno != ENOENT && errno != ENOTDIR)
      note_once(fmt::format("{} cannot be read: {}", path_, std::strerror(errno)));
    return std::nullopt;
  }
  std::array<char, 4096> text{};  // a whole one has 64 short lines at most
  const ssize_t count = ::read(file.get(), text.data(), text.size());
  const std::string_view found(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  auto algorithms = parse_tuning(found, topology_);
  if (!algorithms) note_once(path_ + " is damaged or of another version");
  return algorithms;
}

void TuningCache::store(const TunedAlgorithms& algorithms) {
  if (path_.empty()) return;
  TunedAlgorithms all = algorithms;
  if (const auto others = load()) all.insert(others->begin(), others->end());
  std::error_code code;
  std::filesystem::create_directories(directory_, code);
  const std::string beside = fmt::format("{}.{}", path_, ::getpid());
  ::unlink(beside.c_str());
  const int problem = code ? code.value() : write_beside(beside, path_, render_tuning(topology_, all));
  if (problem == 0) return;
  ::unlink(beside.c_str());
  note_once(fmt::format("{} cannot be written: {}", path_, std::strerror(problem)));
}

void TuningCache::note_once(const std::string& what) {
  if (noted_) return;
  noted_ = true;
  fmt::print(stderr,
             "libddl: note: {}; mode p measures all algorithms again\n  try: DDL_CACHE=off, or a directory "
             "in XDG_CACHE_HOME\n",
             what);
}

}  // namespace ddl
