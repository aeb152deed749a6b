// SPDX-License-Identifier: MIT
// The ranks of a host as forked processes without MPI: what a rank that is killed looks like to the others.
#pragma once

#include "ddl/core/process_id.hpp"
#include "ddl/node/node_comm.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace ddl::tests {

// Made before the fork: all memory that the ranks may ask for, and the marks of their processes.
class ForkedNode {
 public:
  ForkedNode(int size, std::size_t bytes_per_rank)
      : size_(size),
        stride_((bytes_per_rank + 4095) / 4096 * 4096),
        bytes_(4096 + stride_ * static_cast<std::size_t>(size)) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
  }
  ~ForkedNode() { munmap(memory_, bytes_); }
  ForkedNode(const ForkedNode&) = delete;
  ForkedNode& operator=(const ForkedNode&) = delete;

  int size() const { return size_; }
  std::size_t stride() const { return stride_; }
  std::byte* part(int rank) const { return memory_ + 4096 + stride_ * static_cast<std::size_t>(rank); }
  ProcessId& mark(int rank) const { return reinterpret_cast<ProcessId*>(memory_)[rank]; }

 private:
  int size_;
  std::size_t stride_;
  std::size_t bytes_;
  std::byte* memory_ = nullptr;
};

class ForkedNodeComm : public NodeComm {
 public:
  ForkedNodeComm(const ForkedNode& host, int rank) : host_(host), rank_(rank) {
    host_.mark(rank) = this_process_id();
  }

  int local_rank() const override { return rank_; }
  int local_size() const override { return host_.size(); }
  std::shared_ptr<SharedBuffer> allocate(std::size_t bytes) override {
    const std::size_t rounded = (bytes + 4095) / 4096 * 4096;
    if (used_ + rounded > host_.stride()) throw std::bad_alloc();
    used_ += rounded;
    return std::make_shared<Block>(host_, used_ - rounded, bytes);
  }
  bool alive(int local_rank) const override { return is_running(host_.mark(local_rank), true); }
  std::string name_of(int local_rank) const override {
    return "rank " + std::to_string(local_rank) + " (h1)";
  }

 private:
  struct Block : SharedBuffer {
    Block(const ForkedNode& whole, std::size_t at, std::size_t length)
        : host(whole), offset(at), bytes(length) {}
    std::span<std::byte> part(int rank) const override { return {host.part(rank) + offset, bytes}; }
    const ForkedNode& host;
    std::size_t offset;
    std::size_t bytes;
  };
  const ForkedNode& host_;
  int rank_;
  std::size_t used_ = 0;
};

// Runs `work(group)` in one process for each rank; its value is the process's exit status. Returns wait
// statuses.
template <typename Work>
std::vector<int> run_forked(const ForkedNode& host, const Work& work) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < host.size(); ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      int status = 99;
      try {
        ForkedNodeComm group(host, rank);
        status = work(group);
      } catch (...) {
      }
      _exit(status);
    }
    children.push_back(child);
  }
  std::vector<int> statuses;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    statuses.push_back(status);
  }
  return statuses;
}

}  // namespace ddl::tests
