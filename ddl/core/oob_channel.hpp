// SPDX-License-Identifier: MIT
// Short control messages between any two ranks, beside the data (out of band, as UCC and Open MPI call it).
// Made with MPI, over TCP, or in tests by threads.
#pragma once

#include <cstdint>
#include <optional>

namespace ddl {

struct OobMessage {
  enum class Kind : std::uint32_t { question, answer, call_question, call_answer, failure, end };
  Kind kind = Kind::question;
  std::uint32_t number = 0;     // of the question; end: a ContextEnd
  std::int32_t waits_for = -1;  // answer: for whom it waits
  std::uint32_t fault = 0;      // failure: the error
  std::uint64_t group = 0;      // RankGroup::id of the call; end: of the Context that has ended
  std::uint64_t sequence = 0;   // of the call that is asked for, or answered
  std::uint64_t signature = 0;  // call_answer
  char what[768] = {};  // failure; answer, call_answer: the call, "all_reduce #812 (max) of 4096 float32"
  char where[512] = {};
  char hint[512] = {};
};

// Notes between any two ranks, beside everything else. Made with MPI (mpi_notes) or, in tests, by threads.
class OobChannel {
 public:
  virtual ~OobChannel() = default;
  virtual int rank() const = 0;
  virtual void send(int to, const OobMessage& message) = 0;  // never waits
  // One that has come.
  struct Received {
    int from = 0;
    OobMessage message;
  };
  virtual std::optional<Received> take() = 0;
  // After an error: nothing waits for the other ranks any more.
  virtual void abandon() noexcept {}
};

}  // namespace ddl
