// SPDX-License-Identifier: MIT
#include "ddl/core/delayed_note.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>

TEST_SUITE_BEGIN("ddl/core/delayed_note");

TEST_CASE("a note is printed only where the call takes longer than its delay") {
  for (const bool is_long : {false, true}) {
    CAPTURE(is_long);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    REQUIRE(file);
    {
      const ddl::DelayedNote note("late\n", is_long ? std::chrono::milliseconds(1) : std::chrono::hours(1),
                                  file.get());
      for (int waits = 0; is_long && std::ftell(file.get()) == 0 && waits < 10'000; ++waits)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::rewind(file.get());
    std::array<char, 10> text{};
    CHECK((std::fgets(text.data(), text.size(), file.get()) != nullptr) == is_long);
    CHECK(std::string(text.data()) == (is_long ? "late\n" : ""));
  }
}

TEST_SUITE_END();
