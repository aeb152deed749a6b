// SPDX-License-Identifier: MIT
#include "ddl/core/delayed_note.hpp"

#include <system_error>
#include <utility>

namespace ddl {

DelayedNote::DelayedNote(std::string text, std::chrono::milliseconds delay, std::FILE* to) {
  try {
    waits_ = std::thread([this, text = std::move(text), delay, to] {
      std::unique_lock lock(mutex_);
      if (over_.wait_for(lock, delay, [this] { return is_over_; })) return;
      std::fputs(text.c_str(), to);
      std::fflush(to);
    });
  } catch (const std::system_error&) {  // no thread is left: the call goes on without its note
  }
}

DelayedNote::~DelayedNote() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_all();
  if (waits_.joinable()) waits_.join();
}

}  // namespace ddl
