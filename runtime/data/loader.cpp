// SPDX-License-Identifier: MIT
#include "runtime/data/loader.hpp"

#include "base/text/error.hpp"
#include "runtime/core/error_list.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace ddlrun::runtime {
namespace {

double waited_since(TraceClock::time_point begin) {
  return std::chrono::duration<double>(TraceClock::now() - begin).count();
}

Error refuse_use(const char* what) {
  return {ErrorKind::internal, {what, "Loader", "report it with the command line"}};
}

}  // namespace

class Loader::Work {
 public:
  Work(const ImageSource& source, Transform transform, LoadPurpose purpose, std::size_t largest_batch,
       const LoaderOptions& options)
      : source_(source),
        shape_(source.shape()),
        transform_(std::move(transform)),
        purpose_(purpose),
        largest_(largest_batch),
        trace_(options.trace),
        floats_(transform_.output(shape_).count()) {
    const std::vector<Message> errors = check_transform(transform_, shape_);
    if (!errors.empty()) throw join_errors(errors);
    const int wanted = options.threads >= 0 ? options.threads : source.in_memory() ? 0 : 1;
    for (Buffer& buffer : buffers_) {
      buffer.images.resize(largest_ * floats_);
      buffer.labels.resize(largest_);
    }
    for (int i = 0; i < wanted; ++i) threads_.emplace_back([this] { work(); });
  }

  ~Work() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    begun_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void prefetch(std::span<const std::uint32_t> indices, const LoadKey& key) {
    if (indices.empty() || indices.size() > largest_)
      throw refuse_use("the batch size is not supported by this loader");
    {
      const std::lock_guard lock(mutex_);
      if (ahead_ != nullptr) throw refuse_use("prefetch() called twice without take()");
      Buffer& buffer = buffers_[next_];
      buffer.indices.assign(indices.begin(), indices.end());
      buffer.key = key;
      buffer.claimed = buffer.done = 0;
      buffer.failed_at = SIZE_MAX;
      buffer.failure = nullptr;
      ahead_ = &buffer;
      next_ = 1 - next_;
    }
    begun_.notify_all();
  }

  bool ahead() const {
    const std::lock_guard lock(mutex_);
    return ahead_ != nullptr;
  }

  LoadedBatch take() {
    const auto begin = TraceClock::now();
    std::unique_lock lock(mutex_);
    if (ahead_ == nullptr) throw refuse_use("take() called without prefetch()");
    Buffer& buffer = *ahead_;
    if (threads_.empty()) {
      claim_and_load(buffer, lock, buffer.indices.size());
    } else {
      done_.wait(lock, [&] { return buffer.done == buffer.indices.size(); });
    }
    ahead_ = nullptr;
    lock.unlock();
    const double waited = waited_since(begin);
    if (trace_ != nullptr && !threads_.empty())
      trace_->span(TraceLane::input, "wait for images", begin, TraceClock::now());
    if (buffer.failure) std::rethrow_exception(buffer.failure);
    const std::size_t count = buffer.indices.size();
    return {std::span(buffer.images).first(count * floats_), std::span(buffer.labels).first(count), waited};
  }

 private:
  // A batch while it is made and while it is used.
  struct Buffer {
    std::vector<float> images;
    std::vector<Label> labels;
    std::vector<std::uint32_t> indices;
    LoadKey key;
    std::size_t claimed = 0;  // images that some thread has begun
    std::size_t done = 0;
    std::size_t failed_at = SIZE_MAX;  // the first of the images that could not be read
    std::exception_ptr failure;
  };

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      begun_.wait(lock,
                  [&] { return stop_ || (ahead_ != nullptr && ahead_->claimed < ahead_->indices.size()); });
      if (stop_) return;
      // Many images a time of those that cost little, but some for each thread.
      const std::size_t share = ahead_->indices.size() / (4 * threads_.size());
      claim_and_load(*ahead_, lock, source_.in_memory() ? std::max<std::size_t>(share, 1) : 1);
    }
  }

  // Claims the next images of the batch, loads them without the lock, and reports completion.
  void claim_and_load(Buffer& buffer, std::unique_lock<std::mutex>& lock, std::size_t most) {
    const std::size_t begin = buffer.claimed;
    const std::size_t end = std::min(begin + most, buffer.indices.size());
    buffer.claimed = end;
    lock.unlock();
    const auto start = TraceClock::now();
    std::size_t failed_at = SIZE_MAX;
    std::exception_ptr failure;
    for (std::size_t i = begin; i < end && !failure; ++i) {
      try {
        load_image(buffer, i);
      } catch (...) {
        failed_at = i;
        failure = std::current_exception();
      }
    }
    if (trace_ != nullptr) {
      trace_->span(TraceLane::input, "load", start, TraceClock::now(),
                   (end - begin) * floats_ * sizeof(float));
    }
    lock.lock();
    if (failed_at < buffer.failed_at) {
      buffer.failed_at = failed_at;
      buffer.failure = failure;
    }
    buffer.done += end - begin;
    if (buffer.done == buffer.indices.size()) done_.notify_all();
  }

  void load_image(Buffer& buffer, std::size_t at) const {
    const std::size_t index = buffer.indices[at];
    const CropWindow view = purpose_ == LoadPurpose::training
                                ? random_crop(transform_, shape_, buffer.key.seed, buffer.key.step, index)
                                : center_crop(transform_, shape_);
    const std::span<float> out = std::span(buffer.images).subspan(at * floats_, floats_);
    thread_local std::vector<float> room;  // of floats, so that both kinds of pixels are aligned in it
    std::span<const std::byte> bytes = source_.view(index);
    if (bytes.empty()) {
      const std::size_t needed = source_.image_bytes();
      room.resize((needed + sizeof(float) - 1) / sizeof(float));
      const std::span<std::byte> into = std::as_writable_bytes(std::span(room)).first(needed);
      source_.read(index, into);
      bytes = into;
    }
    buffer.labels[at] = source_.label(index);
    if (source_.pixels() == PixelKind::floats) {
      const auto* pixels = reinterpret_cast<const float*>(bytes.data());
      apply_transform(transform_, view, shape_, std::span(pixels, shape_.count()), out);
    } else {
      const auto* pixels = reinterpret_cast<const std::uint8_t*>(bytes.data());
      apply_transform(transform_, view, shape_, std::span(pixels, shape_.count()), out);
    }
  }

  const ImageSource& source_;
  Shape shape_;
  Transform transform_;
  LoadPurpose purpose_;
  std::size_t largest_;
  TraceSink* trace_;
  std::size_t floats_;  // of one image
  mutable std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable done_;
  Buffer buffers_[2];
  std::size_t next_ = 0;
  Buffer* ahead_ = nullptr;
  bool stop_ = false;
  std::vector<std::thread> threads_;  // last: they use all the others
};

Loader::Loader(const ImageSource& source, Transform transform, LoadPurpose purpose, std::size_t largest_batch,
               const LoaderOptions& options)
    : work_(std::make_unique<Work>(source, std::move(transform), purpose, largest_batch, options)) {}
Loader::~Loader() = default;

void Loader::prefetch(std::span<const std::uint32_t> indices, const LoadKey& key) {
  work_->prefetch(indices, key);
}
bool Loader::ahead() const { return work_->ahead(); }
LoadedBatch Loader::take() { return work_->take(); }

}  // namespace ddlrun::runtime
