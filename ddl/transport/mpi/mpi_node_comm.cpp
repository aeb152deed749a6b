// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi/mpi_node_comm.hpp"

#include "ddl/core/gather_strings.hpp"
#include "ddl/core/process_id.hpp"
#include "ddl/core/rounding.hpp"
#include "ddl/data_type.hpp"
#include "ddl/error.hpp"
#include "ddl/transport/mpi/mpi_finalize.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace ddl {
namespace {

// The communicator lives as long as a block of it; after abandon() nothing is freed, for that waits for all
// ranks. Memory that outlives its Context is not MPI's any more.
struct NodeCommHandle {
  explicit NodeCommHandle(MPI_Comm all) {
    int rank = 0;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  ~NodeCommHandle() {
    if (!abandoned && !is_mpi_over()) MPI_Comm_free(&comm);
  }
  NodeCommHandle(const NodeCommHandle&) = delete;
  NodeCommHandle& operator=(const NodeCommHandle&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
  bool abandoned = false;
};

// Where MPI will look: the rank that finds no room there gives up, and leaves the others waiting in that
// call.
bool has_room(std::size_t bytes) {
  constexpr std::size_t reserve = 1 << 20;
  const char* const chosen = std::getenv("OMPI_MCA_osc_sm_backing_directory");
  struct statvfs disk {};
  if (statvfs(chosen != nullptr ? chosen : "/dev/shm", &disk) != 0) return true;
  return disk.f_bavail * disk.f_frsize > bytes + reserve;
}

// On all ranks of the host or on none.
void verify_buffer_request(MPI_Comm host, int rank, int size, std::size_t bytes) {
  const bool fits =
      bytes < max_bytes && (rank != 0 || size == 1 || has_room(bytes * static_cast<std::size_t>(size)));
  const auto request = static_cast<std::int64_t>(std::min(bytes, max_bytes));
  std::array<std::int64_t, 3> facts{request, -request, fits ? 0 : 1};
  MPI_Allreduce(MPI_IN_PLACE, facts.data(), facts.size(), MPI_INT64_T, MPI_MAX, host);
  if (facts[2] != 0) {
    throw Error(Fault::unsupported,
                fmt::format("cannot allocate {} bytes of shared memory for each of {} ranks", bytes, size),
                "", "see the size of /dev/shm (df -h /dev/shm), or allocate less");
  }
  if (facts[0] != -facts[1]) {
    throw Error(Fault::mismatch,
                fmt::format("the ranks of this host allocate {} to {} bytes, this one {}", -facts[1],
                            facts[0], bytes),
                "", "all ranks of a host allocate the same number together");
  }
}

class WindowBuffer : public SharedBuffer {
 public:
  WindowBuffer(std::shared_ptr<NodeCommHandle> host, int size, std::size_t bytes)
      : host_(std::move(host)), bytes_(bytes) {
    int rank = 0;
    MPI_Comm_rank(host_->comm, &rank);
    verify_buffer_request(host_->comm, rank, size, bytes);
    const std::size_t stride = std::max(round_up(bytes, page_bytes), page_bytes);
    void* mine = nullptr;
    // One run of memory for all, and a page more, so that every part begins on a page.
    const auto request = static_cast<MPI_Aint>(stride + (rank == 0 ? page_bytes : 0));
    if (MPI_Win_allocate_shared(request, 1, MPI_INFO_NULL, host_->comm, &mine, &window_) != MPI_SUCCESS) {
      throw Error(Fault::unsupported,
                  fmt::format("cannot allocate {} bytes of shared memory for each of {} ranks", bytes, size),
                  "", "see the size of /dev/shm (df -h /dev/shm), or allocate less");
    }
    MPI_Aint length = 0;
    int unit = 0;
    void* first = nullptr;
    MPI_Win_shared_query(window_, 0, &length, &unit, &first);
    const auto address = reinterpret_cast<std::uintptr_t>(first);
    // Every rank maps the same pages, so all skip the same number of bytes.
    auto* begin = static_cast<std::byte*>(first) + (page_bytes - address % page_bytes) % page_bytes;
    for (int r = 0; r < size; ++r) parts_.push_back(begin + static_cast<std::size_t>(r) * stride);
    // MPI does not promise zeros; and who touches a page first has it near.
    std::memset(parts_[static_cast<std::size_t>(rank)], 0, stride);
    MPI_Barrier(host_->comm);
  }
  ~WindowBuffer() override {
    if (!host_->abandoned && !is_mpi_over()) MPI_Win_free(&window_);
  }
  WindowBuffer(const WindowBuffer&) = delete;
  WindowBuffer& operator=(const WindowBuffer&) = delete;

  std::span<std::byte> part(int local_rank) const override {
    return {parts_[static_cast<std::size_t>(local_rank)], bytes_};
  }

 private:
  std::shared_ptr<NodeCommHandle> host_;
  std::size_t bytes_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::byte*> parts_;
};

class MpiNodeComm : public NodeComm {
 public:
  MpiNodeComm(MPI_Comm all, std::optional<int> number) : host_(std::make_shared<NodeCommHandle>(all)) {
    MPI_Comm_rank(host_->comm, &rank_);
    MPI_Comm_size(host_->comm, &size_);
    RankInfo mine;
    MPI_Comm_rank(all, &mine.rank);
    if (number) mine.rank = *number;
    gethostname(mine.host, sizeof(mine.host) - 1);
    mine.process = this_process_id();
    infos_.resize(static_cast<std::size_t>(size_));
    MPI_Allgather(&mine, sizeof(RankInfo), MPI_BYTE, infos_.data(), sizeof(RankInfo), MPI_BYTE, host_->comm);
    for (RankInfo& info : infos_) info.seen = is_running(info.process, true);
  }

  int local_rank() const override { return rank_; }
  int local_size() const override { return size_; }
  std::shared_ptr<SharedBuffer> allocate(std::size_t bytes) override {
    return std::make_shared<WindowBuffer>(host_, size_, bytes);
  }
  bool alive(int local_rank) const override {
    return is_running(info(local_rank).process, info(local_rank).seen);
  }
  std::string name_of(int local_rank) const override {
    return name_rank(info(local_rank).rank, info(local_rank).host);
  }
  std::string state_of(int local_rank) const override {
    return info(local_rank).seen ? describe_process(info(local_rank).process) : "";
  }
  void abandon() override { host_->abandoned = true; }

 private:
  struct RankInfo {
    int rank = 0;
    char host[65] = {};
    bool seen = false;
    ProcessId process;
  };
  const RankInfo& info(int local_rank) const { return infos_[static_cast<std::size_t>(local_rank)]; }

  std::shared_ptr<NodeCommHandle> host_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<RankInfo> infos_;
};

}  // namespace

std::unique_ptr<NodeComm> make_mpi_node_comm(MPI_Comm all, std::optional<int> number) {
  return std::make_unique<MpiNodeComm>(all, number);
}

}  // namespace ddl
