// SPDX-License-Identifier: MIT
// Who is missing when a wait grows long: a rank asks the one it waits for whom that one waits for, and so on
// down to the one that answers nobody. Who gives up tells its neighbours why, so that they do not blame it.
#pragma once

#include "ddl/error.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

struct Note {
  enum class Kind : std::uint32_t { question, answer, verdict };
  Kind kind = Kind::question;
  std::uint32_t number = 0;  // of the question
  std::int32_t whom = -1;    // answer: for whom it waits
  std::uint32_t fault = 0;   // verdict: the error
  char what[768] = {};
  char where[512] = {};
  char hint[512] = {};
};

// Notes between any two ranks, beside everything else. Made with MPI (mpi_notes) or, in tests, by threads.
class NoteBox {
 public:
  virtual ~NoteBox() = default;
  virtual int rank() const = 0;
  virtual void send(int to, const Note& note) = 0;  // never waits
  // One that has come.
  struct Received {
    int from = 0;
    Note note;
  };
  virtual std::optional<Received> take() = 0;
  // After an error: nothing waits for the other ranks any more.
  virtual void abandon() noexcept {}
};

class RollCall {
 public:
  // `neighbours` are told when this rank gives up. `patience`: how long an answer may take.
  RollCall(std::unique_ptr<NoteBox> box, std::function<std::string(int)> name_of, std::vector<int> neighbours,
           std::chrono::milliseconds patience = std::chrono::milliseconds(1500));

  // To be called again and again while this rank waits for `rank`: answers who asks. Throws the Error with
  // which another rank has given up.
  void wait_for(int rank);

  struct Silence {
    int rank = -1;        // who answers nobody
    bool circle = false;  // all answer: each waits for the next
    std::string name;     // "rank 1 (h2)"
    std::string
        told;  // "rank 3 (h4) waits for rank 2 (h3), which waits for rank 1 (h2), which answers nobody"
  };
  // Down the chain from `rank`, for which this rank waits. Throws as wait_for().
  Silence find_silent(int rank);

  void give_up(const Error& error) noexcept;

 private:
  void serve();
  std::optional<int> ask(int rank);
  std::string render_way(const std::vector<int>& way, bool circle) const;

  std::unique_ptr<NoteBox> box_;
  std::function<std::string(int)> name_of_;
  std::vector<int> neighbours_;
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point next_look_;
  int waits_for_ = -1;
  int silent_ = -1;  // gets no more notes
  std::uint32_t number_ = 0;
  std::optional<int> answer_;  // to the last question
  bool given_up_ = false;
};

}  // namespace ddl
