// SPDX-License-Identifier: MIT
// Waiting on a word of memory that processes share.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ddl {

using Flag = std::atomic<std::uint32_t>;
static_assert(Flag::is_always_lock_free && sizeof(Flag) == 4);

// One pause of a loop that spins.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27");
#endif
}

// Between processes: no FUTEX_PRIVATE_FLAG.
inline void sleep_on(Flag& word, std::uint32_t value, std::chrono::nanoseconds most) {
  const timespec limit{.tv_sec = most.count() / 1'000'000'000, .tv_nsec = most.count() % 1'000'000'000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, &limit, nullptr, 0);
}
inline void wake_all(Flag& word) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace ddl
