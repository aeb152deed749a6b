// SPDX-License-Identifier: MIT
#include "ddl/mpi_notes.hpp"

#include <list>

namespace ddl {
namespace {

class MpiNotes : public NoteBox {
 public:
  explicit MpiNotes(MPI_Comm all) {
    MPI_Comm_dup(all, &notes_);
    MPI_Comm_set_errhandler(notes_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(notes_, &rank_);
  }
  ~MpiNotes() override {
    // What nobody took must outlive this: MPI may still read it.
    for (SentNote& one : sent_) {
      if (one.request != MPI_REQUEST_NULL) MPI_Request_free(&one.request);
    }
    if (!sent_.empty()) static_cast<void>(new std::list<SentNote>(std::move(sent_)));
    if (!abandoned_) MPI_Comm_free(&notes_);
  }
  MpiNotes(const MpiNotes&) = delete;
  MpiNotes& operator=(const MpiNotes&) = delete;

  int rank() const override { return rank_; }
  void abandon() noexcept override { abandoned_ = true; }

  void send(int to, const Note& note) override {
    sent_.remove_if([](SentNote& one) {
      int done = 0;
      return MPI_Test(&one.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
    });
    SentNote& one = sent_.emplace_back(SentNote{note, MPI_REQUEST_NULL});
    if (MPI_Isend(&one.note, sizeof(Note), MPI_BYTE, to, 0, notes_, &one.request) != MPI_SUCCESS)
      sent_.pop_back();
  }

  std::optional<Received> take() override {
    int there = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, 0, notes_, &there, &status) != MPI_SUCCESS || there == 0)
      return std::nullopt;
    Received received;
    received.from = status.MPI_SOURCE;
    if (MPI_Recv(&received.note, sizeof(Note), MPI_BYTE, received.from, 0, notes_, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
      return std::nullopt;
    return received;
  }

 private:
  struct SentNote {
    Note note;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  MPI_Comm notes_ = MPI_COMM_NULL;
  int rank_ = 0;
  bool abandoned_ = false;
  std::list<SentNote> sent_;
};

}  // namespace

std::unique_ptr<NoteBox> make_mpi_notes(MPI_Comm all) { return std::make_unique<MpiNotes>(all); }

}  // namespace ddl
