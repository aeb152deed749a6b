// SPDX-License-Identifier: MIT
#include "launch/ssh/ssh_protocol.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ddlrun;
using launch::handshake_line;
using launch::HandshakeReader;
using launch::render_ssh_message;
using launch::SshMessage;
using launch::SshMessageReader;
using launch::SshMessageType;

namespace {

std::vector<SshMessage> read_wire(const std::string& bytes, std::size_t portion) {
  SshMessageReader reader;
  std::vector<SshMessage> messages;
  for (std::size_t at = 0; at < bytes.size(); at += portion) {
    reader.feed(std::string_view(bytes).substr(at, portion),
                [&](SshMessage&& message) { messages.push_back(std::move(message)); });
  }
  return messages;
}

}  // namespace

TEST_SUITE_BEGIN("launch/ssh/ssh_protocol");

TEST_CASE("messages arrive as they were sent, however they are cut") {
  CHECK(render_ssh_message({SshMessageType::out, 3, 0, "two\nlines\n"}) == "out 3 0 10\ntwo\nlines\n");
  CHECK(render_ssh_message({SshMessageType::ended, 4294967295u, 265, ""}) == "ended 4294967295 265 0\n");
  const std::vector<SshMessage> sent{
      {SshMessageType::spec, 0, 0, std::string(100'000, '{')},
      {SshMessageType::start, 0, 0, ""},
      {SshMessageType::input, 0, 0, std::string("\0out 1 0 5\n", 11)},
      {SshMessageType::out, 1, 0, "ended 1 0 0\n"},
      {SshMessageType::signal, 15, 0, ""},
      {SshMessageType::end, 7, 0, ""},
      {SshMessageType::stop, 1, 0, ""},
      {SshMessageType::prepared, 0, 0, ""},
      {SshMessageType::refused, 0, 3, "why\nwhere\nwhat to type"},
      {SshMessageType::err, 1u << 20, 0, "\xff\xfe\n"},
      {SshMessageType::ended, 1, 256 + 9, ""},
      {SshMessageType::ack, 0, 0, ""},
      {SshMessageType::heartbeat, 0, 0, ""},
  };
  std::string bytes;
  for (const SshMessage& message : sent) bytes += render_ssh_message(message);
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

TEST_CASE("the handshake is found behind what start-up files print") {
  struct Row {
    std::string bytes;
    bool found;
    std::string noise, id, rest;
  };
  const std::string handshake = "ddlrun-start ready 00ff\n";
  CHECK(handshake_line("00ff") == handshake);
  for (const Row& row :
       {Row{handshake, true, "", "00ff", ""},
        Row{"Welcome!\n" + handshake + "start 0 0 0\n", true, "Welcome!\n", "00ff", "start 0 0 0\n"},
        Row{"it says " + handshake, false, "", "", ""}, Row{"ddlrun-start re", false, "", "", ""},
        Row{"x " + handshake + handshake, true, "x " + handshake, "00ff", ""}}) {
    CAPTURE(row.bytes);
    for (const std::size_t portion : {row.bytes.size(), std::size_t{1}}) {
      HandshakeReader finder;
      auto state = HandshakeReader::wanted;
      std::string rest;
      for (std::size_t at = 0; at < row.bytes.size(); at += portion) {
        if (state == HandshakeReader::found)
          rest += row.bytes.substr(at, portion);
        else
          state = finder.feed(row.bytes.substr(at, portion));
      }
      CHECK((state == HandshakeReader::found) == row.found);
      if (!row.found) continue;
      CHECK(finder.noise() == row.noise);
      CHECK(finder.build_id() == row.id);
      CHECK(finder.rest() + rest == row.rest);
    }
  }
  for (const std::string start : {"", "ddlrun-start ready "}) {
    HandshakeReader endless;
    auto state = endless.feed(start);
    for (int i = 0; i < 1000 && state == HandshakeReader::wanted; ++i)
      state = endless.feed(std::string(1000, 'y'));
    CHECK(state == HandshakeReader::failed);
  }
}

TEST_SUITE_END();
