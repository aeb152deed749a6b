// SPDX-License-Identifier: MIT
#include "base/process/posix_code_samples.hpp"

#include "base/process/posix_process_tree.hpp"
#include "base/process/posix_spawn.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace ddlrun {

namespace {

// perf_event_mlock_kb (516 by default) is for all buffers of a user: a page of head and two of samples for
// each thread.
constexpr std::size_t most_threads = 32;
constexpr std::size_t data_pages = 2;

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

// The samples of one thread.
class ThreadSampler {
 public:
  explicit ThreadSampler(pid_t thread) {
    perf_event_attr request{};
    request.size = sizeof request;
    request.type = PERF_TYPE_SOFTWARE;  // no counter of the processor: virtual machines often have none
    request.config = PERF_COUNT_SW_TASK_CLOCK;
    request.freq = 1;
    request.sample_freq = 997;
    request.sample_type = PERF_SAMPLE_IP;
    request.exclude_kernel = 1;
    request.exclude_hv = 1;
    event_ =
        Fd(static_cast<int>(::syscall(SYS_perf_event_open, &request, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!event_.open()) return;
    void* const pages = ::mmap(nullptr, length(), PROT_READ | PROT_WRITE, MAP_SHARED, event_.get(), 0);
    if (pages != MAP_FAILED) pages_ = static_cast<std::byte*>(pages);
  }
  ThreadSampler(ThreadSampler&& other) noexcept
      : event_(std::move(other.event_)), pages_(std::exchange(other.pages_, nullptr)) {}
  ThreadSampler& operator=(ThreadSampler&&) = delete;
  ~ThreadSampler() {
    if (pages_ != nullptr) ::munmap(pages_, length());
  }

  bool works() const { return pages_ != nullptr; }

  void add_addresses(std::vector<std::uint64_t>& found) const {
    perf_event_mmap_page head{};
    std::memcpy(&head, pages_, sizeof head);
    std::atomic_thread_fence(std::memory_order_acquire);
    // A full buffer takes no more samples, since nothing moves data_tail: none is overwritten.
    for (std::uint64_t at = 0; at + sizeof(perf_event_header) <= head.data_head;) {
      perf_event_header record{};
      copy(at, &record, sizeof record);
      if (record.size == 0) break;
      if (record.type == PERF_RECORD_SAMPLE)
        copy(at + sizeof record, &found.emplace_back(), sizeof(std::uint64_t));
      at += record.size;
    }
  }

 private:
  static std::size_t length() { return (1 + data_pages) * page_size(); }
  // Records are multiples of 8 bytes, and so no 8 bytes lie over the end of the buffer.
  void copy(std::uint64_t at, void* to, std::size_t size) const {
    std::memcpy(to, pages_ + page_size() + at % (data_pages * page_size()), size);
  }

  Fd event_;
  std::byte* pages_ = nullptr;
};

struct MappedFile {
  std::uint64_t end = 0;
  std::string name;
};

// By the address where a mapping begins: "7f...-7f... r-xp 00000000 08:01 123   /usr/lib/libmpi.so.40".
std::map<std::uint64_t, MappedFile> read_mapped_files(pid_t pid) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::map<std::uint64_t, MappedFile> files;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uint64_t begin = 0, end = 0;
    char dash = 0;
    std::string mode, offset, device, inode, path;
    if (!(words >> std::hex >> begin >> dash >> end >> mode >> offset >> device >> inode)) continue;
    std::getline(words >> std::ws, path);
    files[begin] = {end, path.substr(path.rfind('/') + 1)};
  }
  return files;
}

}  // namespace

CodeSamples sample_code(pid_t pid, std::size_t enough, std::chrono::milliseconds longest) {
  std::vector<ThreadSampler> threads;
  for (const pid_t thread : find_threads(pid)) {
    if (threads.size() == most_threads) break;
    ThreadSampler sampler(thread);
    if (sampler.works()) threads.push_back(std::move(sampler));
  }
  CodeSamples samples;
  if (threads.empty()) return samples;
  constexpr std::chrono::milliseconds turn{50};
  std::vector<std::uint64_t> addresses;
  for (auto left = longest; left.count() > 0 && addresses.size() < enough; left -= turn) {
    ::poll(nullptr, 0, static_cast<int>(std::min(turn, left).count()));
    addresses.clear();
    for (const ThreadSampler& thread : threads) thread.add_addresses(addresses);
  }
  const auto files = read_mapped_files(pid);
  for (const std::uint64_t address : addresses) {
    const auto after = files.upper_bound(address);
    const bool mapped = after != files.begin() && address < std::prev(after)->second.end;
    ++samples[mapped ? std::prev(after)->second.name : std::string()];
  }
  return samples;
}

}  // namespace ddlrun
