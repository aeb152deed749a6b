// SPDX-License-Identifier: MIT
#include "launch/ssh/start_wire.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ddlrun;
using launch::GreetingFinder;
using launch::render_wire;
using launch::wire_greeting;
using launch::WireMessage;
using launch::WireReader;
using launch::WireWord;

namespace {

std::vector<WireMessage> read_wire(const std::string& bytes, std::size_t portion) {
  WireReader reader;
  std::vector<WireMessage> messages;
  for (std::size_t at = 0; at < bytes.size(); at += portion) {
    reader.feed(std::string_view(bytes).substr(at, portion),
                [&](WireMessage&& message) { messages.push_back(std::move(message)); });
  }
  return messages;
}

}  // namespace

TEST_SUITE_BEGIN("launch/ssh/start_wire");

TEST_CASE("messages arrive as they were sent, however they are cut") {
  CHECK(render_wire({WireWord::out, 3, 0, "two\nlines\n"}) == "out 3 0 10\ntwo\nlines\n");
  CHECK(render_wire({WireWord::ended, 4294967295u, 265, ""}) == "ended 4294967295 265 0\n");
  const std::vector<WireMessage> sent{
      {WireWord::document, 0, 0, std::string(100'000, '{')},
      {WireWord::go, 0, 0, ""},
      {WireWord::input, 0, 0, std::string("\0out 1 0 5\n", 11)},
      {WireWord::out, 1, 0, "ended 1 0 0\n"},
      {WireWord::signal, 15, 0, ""},
      {WireWord::end, 7, 0, ""},
      {WireWord::stop, 1, 0, ""},
      {WireWord::prepared, 0, 0, ""},
      {WireWord::refused, 0, 3, "why\nwhere\nwhat to type"},
      {WireWord::err, 1u << 20, 0, "\xff\xfe\n"},
      {WireWord::ended, 1, 256 + 9, ""},
      {WireWord::took, 0, 0, ""},
      {WireWord::alive, 0, 0, ""},
  };
  std::string bytes;
  for (const WireMessage& message : sent) bytes += render_wire(message);
  for (const std::size_t portion : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
    CAPTURE(portion);
    CHECK(read_wire(bytes, portion) == sent);
  }
}

TEST_CASE("what is no message is refused") {
  for (const std::string bytes :
       {"hello\n", "out 1 0\n", "out 1 0 5 6\nabcde", "out -1 0 5\nabcde", "shout 1 0 5\nabcde",
        "out 1 0 99999999999\n", "out 4294967296 0 1\na", "out  0 5\nabcde", "\n", "out 1 0 0x5\nabcde"}) {
    CAPTURE(bytes);
    CHECK_THROWS_AS(read_wire(bytes, bytes.size()), Error);
  }
  // Without a newline it is given up soon, not at the end of the memory.
  CHECK_THROWS_AS(read_wire(std::string(65, 'x'), 1), Error);
  CHECK(read_wire(std::string(63, 'x'), 1).empty());
}

TEST_CASE("the greeting is found behind what start-up files print") {
  struct Row {
    std::string bytes;
    bool found;
    std::string noise, id, rest;
  };
  const std::string greeting = "ddlrun-start ready 00ff\n";
  CHECK(wire_greeting("00ff") == greeting);
  for (const Row& row :
       {Row{greeting, true, "", "00ff", ""},
        Row{"Welcome!\n" + greeting + "go 0 0 0\n", true, "Welcome!\n", "00ff", "go 0 0 0\n"},
        Row{"it says " + greeting, false, "", "", ""}, Row{"ddlrun-start re", false, "", "", ""},
        Row{"x " + greeting + greeting, true, "x " + greeting, "00ff", ""}}) {
    CAPTURE(row.bytes);
    for (const std::size_t portion : {row.bytes.size(), std::size_t{1}}) {
      GreetingFinder finder;
      auto state = GreetingFinder::wanted;
      std::string rest;
      for (std::size_t at = 0; at < row.bytes.size(); at += portion) {
        if (state == GreetingFinder::found)
          rest += row.bytes.substr(at, portion);
        else
          state = finder.feed(row.bytes.substr(at, portion));
      }
      CHECK((state == GreetingFinder::found) == row.found);
      if (!row.found) continue;
      CHECK(finder.noise() == row.noise);
      CHECK(finder.build_id() == row.id);
      CHECK(finder.rest() + rest == row.rest);
    }
  }
  GreetingFinder endless;
  auto state = GreetingFinder::wanted;
  for (int i = 0; i < 1000 && state == GreetingFinder::wanted; ++i)
    state = endless.feed(std::string(1000, 'y'));
  CHECK(state == GreetingFinder::hopeless);
}

TEST_SUITE_END();
