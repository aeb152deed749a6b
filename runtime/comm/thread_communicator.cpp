// SPDX-License-Identifier: MIT
#include "runtime/comm/thread_communicator.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace ddlrun::runtime {
namespace {

struct Stopped {};  // thrown in the ranks that wait for one that failed

class Group {
 public:
  explicit Group(int size)
      : size_(size), inputs(static_cast<std::size_t>(size)), texts(static_cast<std::size_t>(size)) {}

  int size() const { return size_; }

  void barrier() {
    std::unique_lock lock(mutex_);
    if (error_) throw Stopped{};
    const int round = round_;
    if (++waiting_ == size_) {
      waiting_ = 0;
      ++round_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return round_ != round || error_; });
    if (round_ == round) throw Stopped{};
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    changed_.notify_all();
  }
  std::exception_ptr error() const { return error_; }

  // What the ranks ask for first is made for all.
  std::span<float> common(std::size_t index, std::size_t count) {
    const std::lock_guard lock(mutex_);
    if (index == common_.size()) common_.emplace_back(count, 0.0F);
    return common_[index];
  }

 private:
  int size_;
  int waiting_ = 0;
  int round_ = 0;
  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<float>> common_;

 public:
  std::vector<std::span<const float>> inputs;
  std::vector<std::string> texts;
};

// All ranks are of one host.
class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(Group& group, int rank) : group_(group), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return group_.size(); }

  int local_rank() const override { return rank_; }
  int local_size() const override { return group_.size(); }

  std::span<float> allocate(std::size_t count) override { return memory_.emplace_back(count, 0.0F); }
  std::span<float> allocate_host_shared(std::size_t count) override {
    return group_.common(next_common_++, count);
  }

  void all_reduce_sum(std::span<float> data, std::string_view) override {
    const std::vector<float> mine(data.begin(), data.end());
    all_reduce_sum(mine, data);
  }

  // Summed in rank order by each rank, so the bits are equal.
  void all_reduce_sum(std::span<const float> in, std::span<float> out) override {
    group_.inputs[static_cast<std::size_t>(rank_)] = in;
    group_.barrier();
    std::copy_n(group_.inputs[0].begin(), out.size(), out.begin());
    for (std::size_t r = 1; r < group_.inputs.size(); ++r) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += group_.inputs[r][i];
    }
    group_.barrier();
  }

  // In two blocks, so that tests cover callers with several blocks.
  void all_reduce_update(std::span<float> data, std::string_view, const ApplySums& use) override {
    const std::vector<float> mine(data.begin(), data.end());
    std::vector<float> sums(data.size());
    all_reduce_sum(mine, sums);
    const std::size_t ranks = group_.inputs.size();
    const std::size_t begin = data.size() * static_cast<std::size_t>(rank_) / ranks;
    const std::size_t end = data.size() * (static_cast<std::size_t>(rank_) + 1) / ranks;
    const std::size_t middle = (begin + end) / 2;
    if (middle > begin) use(begin, std::span(sums).subspan(begin, middle - begin));
    if (end > middle) use(middle, std::span(sums).subspan(middle, end - middle));
    group_.barrier();
  }

  void broadcast(std::span<float> data) override {
    if (rank_ == 0) group_.inputs[0] = data;
    group_.barrier();
    if (rank_ != 0) std::copy(group_.inputs[0].begin(), group_.inputs[0].end(), data.begin());
    group_.barrier();
  }

  std::vector<std::string> gather_all(const std::string& mine) override {
    group_.texts[static_cast<std::size_t>(rank_)] = mine;
    group_.barrier();
    std::vector<std::string> all = group_.texts;
    group_.barrier();
    return all;
  }

 private:
  Group& group_;
  int rank_;
  std::size_t next_common_ = 0;
  std::deque<std::vector<float>> memory_;
};

}  // namespace

void run_ranks_as_threads(int size, const std::function<void(Communicator&)>& work) {
  Group group(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&group, &work, rank] {
      ThreadCommunicator ranks(group, rank);
      try {
        work(ranks);
      } catch (const Stopped&) {
        return;
      } catch (...) {
        group.fail(std::current_exception());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (group.error()) std::rethrow_exception(group.error());
}

}  // namespace ddlrun::runtime
