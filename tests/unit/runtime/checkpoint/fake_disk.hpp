// SPDX-License-Identifier: MIT
// A disk in memory that can stop the process before, within or after any call that changes it, refuse the
// call, and then forget what was not synced, as a machine without power does.
#pragma once

#include "base/text/error.hpp"
#include "runtime/checkpoint/checkpoint_disk.hpp"
#include "runtime/core/random.hpp"

#include <cstring>
#include <functional>
#include <map>
#include <utility>

namespace ddlrun::runtime {

enum class Fault { none, stop_before, stop_within, stop_after, refuse };

class FakeDisk : public CheckpointDisk {
 public:
  struct Stopped {};  // no std::exception: nothing of ours may catch it

  // At the `call`th change from now, from 1.
  void plan_fault(std::size_t call, Fault fault) {
    calls_ = 0;
    fault_at_ = call;
    fault_ = fault;
  }
  std::size_t calls() const { return calls_; }

  // What is found after the power came back: some of the changes since the directory was synced have
  // happened, in their order; what was not synced of a file is there in part, is zeros, or is missing.
  void lose_power(Random& random) {
    const std::size_t happened = random.below(pending_.size() + 1);
    for (std::size_t i = 0; i < happened; ++i) pending_[i](durable_);
    pending_.clear();
    now_.clear();
    for (auto& [path, file] : durable_) {
      auto after = std::make_shared<Inode>(*file);
      if (after->now != after->synced) after->now = half_written(*after, random);
      after->synced = after->now;
      now_.emplace(path, after);
    }
    durable_ = now_;
    fault_at_ = 0;
  }
  void resume_command() { fault_at_ = 0; }

  std::string& content(const std::string& path) { return now_.at(path)->now; }
  bool exists(const std::string& path) const { return now_.contains(path); }
  void erase(const std::string& path) { now_.erase(path); }
  void put(const std::string& path, const std::string& text) {
    now_[path] = std::make_shared<Inode>(Inode{text, text});
  }

  void create_directory(const std::string&) override {}

  std::unique_ptr<CheckpointFile> create(const std::string& path) override {
    if (now_.contains(path)) throw refusal(path);
    auto file = std::make_shared<Inode>();
    change(path, [=](Directory& directory) { directory[path] = file; });
    return std::make_unique<OpenFile>(*this, file, path);
  }
  void rename(const std::string& from, const std::string& to) override {
    if (!now_.contains(from)) throw refusal(from);
    change(to, [=](Directory& directory) {
      const auto file = directory.find(from);
      if (file == directory.end()) return;
      directory[to] = file->second;
      directory.erase(from);
    });
  }
  void sync_directory(const std::string& path) override {
    guard(path, [&](bool) {
      for (const auto& one : pending_) one(durable_);
      pending_.clear();
    });
  }
  void remove(const std::string& path) override {
    if (now_.contains(path)) change(path, [=](Directory& directory) { directory.erase(path); });
  }

  LockResult lock_answer;
  LockResult lock(const std::string&) override { return lock_answer; }

  std::vector<std::string> list(const std::string& path) const override {
    std::vector<std::string> names;
    for (const auto& [name, file] : now_) {
      if (name.starts_with(path + "/")) names.push_back(name.substr(path.size() + 1));
    }
    return names;
  }
  std::optional<std::uint64_t> size(const std::string& path) const override {
    const auto file = now_.find(path);
    return file == now_.end() ? std::nullopt : std::optional<std::uint64_t>(file->second->now.size());
  }
  void read(const std::string& path, std::uint64_t offset, std::span<std::byte> bytes) const override {
    const std::string& text = now_.at(path)->now;
    if (offset + bytes.size() > text.size()) throw refusal(path);
    std::memcpy(bytes.data(), text.data() + offset, bytes.size());
  }

 private:
  struct Inode {
    std::string now;
    std::string synced;
  };
  using Directory = std::map<std::string, std::shared_ptr<Inode>>;

  class OpenFile : public CheckpointFile {
   public:
    OpenFile(FakeDisk& disk, std::shared_ptr<Inode> file, std::string path)
        : disk_(disk), file_(std::move(file)), path_(std::move(path)) {}
    void append(std::span<const std::byte> bytes) override {
      disk_.guard(path_, [&](bool half) {
        file_->now.append(reinterpret_cast<const char*>(bytes.data()),
                          half ? bytes.size() / 2 : bytes.size());
      });
    }
    void sync() override {
      disk_.guard(path_, [&](bool half) {
        if (!half) file_->synced = file_->now;
      });
    }

   private:
    FakeDisk& disk_;
    std::shared_ptr<Inode> file_;
    std::string path_;
  };

  static Error refusal(const std::string& path) {
    return {ErrorKind::request, {"No space left on device", path, "df -h"}};
  }

  static std::string half_written(const Inode& file, Random& random) {
    std::string text = file.now.substr(0, random.below(file.now.size() + 1));
    if (random.below(2) == 0) text.resize(file.now.size(), '\0');
    return random.below(3) == 0 ? file.synced : text;
  }

  void guard(const std::string& path, const std::function<void(bool half)>& work) {
    const bool meant = ++calls_ == fault_at_;
    if (meant && fault_ == Fault::stop_before) throw Stopped{};
    if (meant && (fault_ == Fault::stop_within || fault_ == Fault::refuse)) work(true);
    if (meant && fault_ == Fault::stop_within) throw Stopped{};
    if (meant && fault_ == Fault::refuse) throw refusal(path);
    work(false);
    if (meant) throw Stopped{};
  }
  void change(const std::string& path, const std::function<void(Directory&)>& work) {
    guard(path, [&](bool half) {
      if (half) return;  // a name is there or not
      work(now_);
      pending_.push_back(work);
    });
  }

  Directory now_;
  Directory durable_;
  std::vector<std::function<void(Directory&)>> pending_;
  std::size_t calls_ = 0;
  std::size_t fault_at_ = 0;
  Fault fault_ = Fault::none;
};

}  // namespace ddlrun::runtime
