// SPDX-License-Identifier: MIT
// The messages between the ssh launcher (`ddlrun ssh-launch`) and its daemon on each host (`ddlrun
// ssh-daemon`) over ssh's stdin and stdout: "word number value length", a newline, then so many bytes. Pure.
//
//   launcher                          daemon
//      | <---------- handshake line --- |
//      | --- spec --------------------> |
//      | <------- prepared | refused -- |    all prepared: start; else stop
//      | --- start -------------------> |
//      | --- input, signal, end, stop > |
//      | <-- out, err, ended, ack,  --- |
//      |     heartbeat                  |
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ddlrun::launch {

enum class SshMessageType {
  // launcher to daemon
  spec,    // bytes: what to start; number: which of its hosts this is
  start,   // start it: all hosts are prepared
  input,   // bytes for rank 0's stdin; none: it has ended
  signal,  // number: for all ranks
  end,     // number: this service rank must end
  stop,    // all ranks must end
  // daemon to launcher
  prepared,  // the spec was read, nothing is started
  refused,   // bytes: why not, as people read it
  out,       // bytes of rank `number`: whole lines
  err,
  ended,      // rank `number`; value: its status, or 256 + the signal that ended it
  ack,        // the last input was taken: the next may be sent
  heartbeat,  // nothing; so that a broken connection is noticed here, too
};

struct SshMessage {
  SshMessageType word = SshMessageType::heartbeat;
  std::uint32_t number = 0;
  std::uint32_t value = 0;
  std::string bytes;

  bool operator==(const SshMessage&) const = default;
};

constexpr std::size_t max_message_bytes = 64u << 20;  // of one message
constexpr std::size_t input_portion = 64u << 10;      // of stdin, at once

std::string render_ssh_message(const SshMessage& message);

// Cuts what arrives into messages.
class SshMessageReader {
 public:
  using Sink = std::function<void(SshMessage&& message)>;
  // Error{internal} for what is no message; nothing that follows can be understood then.
  void feed(std::string_view bytes, const Sink& sink);

 private:
  bool take_one(const Sink& sink);
  std::string rest_;
  std::size_t at_ = 0;
};

// The first line of the daemon; output of shell start-up files may precede it.
std::string handshake_line(std::string_view build_id);

// Finds it at the start of a line.
class HandshakeReader {
 public:
  enum State { wanted, found, failed };  // failed: too much came without it
  // `bytes` behind the handshake are left in `rest()`, those before it in `noise()`.
  State feed(std::string_view bytes);
  const std::string& build_id() const { return build_id_; }
  const std::string& noise() const { return noise_; }
  const std::string& rest() const { return rest_; }

 private:
  std::string noise_, build_id_, rest_;
};

}  // namespace ddlrun::launch
