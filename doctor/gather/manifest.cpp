// SPDX-License-Identifier: MIT
#include "doctor/gather/manifest.hpp"

#include "doctor/gather/content_hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t sample_size = 64;

std::uint64_t hash_of(std::string_view text) {
  ContentHash hash;
  hash.add(text);
  return hash.value();
}

class Walk {
 public:
  Walk(HostInfo& kernel, const std::string& path, const ManifestBounds& bounds)
      : kernel_(kernel), path_(path), bounds_(bounds), end_(std::chrono::steady_clock::now() + bounds.time) {}

  Manifest run() {
    const auto top = kernel_.file_info(path_, true);
    if (!top) return manifest_;
    if (top->kind != FileInfo::Kind::directory) return run_file(*top);
    manifest_.state = Manifest::State::dir;
    list_names();
    if (manifest_.state == Manifest::State::dir) ask_sizes();
    return std::move(manifest_);
  }

 private:
  Manifest run_file(const FileInfo& info) {
    manifest_.state = Manifest::State::file;
    manifest_.files = 1;
    manifest_.bytes = info.size_bytes;
    manifest_.newest_seconds = info.modified_seconds;
    manifest_.sizes_hash = info.size_bytes;
    if (!kernel_.may_access(path_, Access::read)) deny("");
    return std::move(manifest_);
  }

  void deny(const std::string& name) {
    if (manifest_.denied++ == 0) manifest_.first_denied = name.empty() ? path_ : path_ + "/" + name;
  }

  bool in_time() {
    if (++looks_ % 64 == 0 && std::chrono::steady_clock::now() > end_) manifest_.complete = false;
    return manifest_.complete;
  }

  void list_names() {
    std::vector<std::string> dirs{""};  // below the path
    while (!dirs.empty() && manifest_.complete) {
      const std::string dir = std::move(dirs.back());
      dirs.pop_back();
      const std::string before = dir.empty() ? "" : dir + "/";
      const bool listed = kernel_.visit_directory(dir.empty() ? path_ : path_ + "/" + dir,
                                                  [&](std::string_view name, FileInfo::Kind kind) {
                                                    if (++entries_ > bounds_.entries)
                                                      manifest_.complete = false;
                                                    std::string full = before + std::string(name);
                                                    if (kind == FileInfo::Kind::directory) {
                                                      dirs.push_back(std::move(full));
                                                    } else {
                                                      add_name(std::move(full));
                                                    }
                                                    return in_time();
                                                  });
      if (listed) continue;
      if (dir.empty()) manifest_.state = Manifest::State::unreadable;
      deny(dir);
    }
  }

  void add_name(std::string name) {
    const std::uint64_t hash = hash_of(name);
    ++manifest_.files;
    manifest_.names_hash += hash;  // a sum: the order does not matter
    if (names_.size() < bounds_.sizes) names_.push_back(name);
    sample_.emplace(hash, std::move(name));
    if (sample_.size() > sample_size) sample_.erase(std::prev(sample_.end()));
  }

  void ask_size(const std::string& name, bool is_sampled) {
    const auto info = kernel_.file_info(path_ + "/" + name, true);
    if (!info || !kernel_.may_access(path_ + "/" + name, Access::read)) deny(name);
    if (!info) return;
    manifest_.sizes_hash += hash_of(fmt::format("{}\n{}", info->size_bytes, name));
    manifest_.newest_seconds = std::max(manifest_.newest_seconds, info->modified_seconds);
    if (manifest_.has_bytes) manifest_.bytes += info->size_bytes;
    if (is_sampled) manifest_.sample.push_back({name, info->size_bytes});
  }

  void ask_sizes() {
    manifest_.has_bytes = manifest_.complete && names_.size() == manifest_.files;
    if (!manifest_.has_bytes) {
      for (const auto& [hash, name] : sample_) {
        if (in_time()) ask_size(name, true);
      }
      return;
    }
    for (const std::string& name : names_) {
      if (in_time()) ask_size(name, sample_.count(hash_of(name)) > 0);
    }
  }

  HostInfo& kernel_;
  const std::string& path_;
  const ManifestBounds& bounds_;
  const std::chrono::steady_clock::time_point end_;
  Manifest manifest_;
  std::uint64_t entries_ = 0, looks_ = 0;
  std::vector<std::string> names_;
  std::map<std::uint64_t, std::string> sample_;  // the smallest hashes
};

}  // namespace

Manifest read_manifest(HostInfo& kernel, const std::string& path, const ManifestBounds& bounds) {
  return Walk(kernel, path, bounds).run();
}

}  // namespace ddlrun::doctor
