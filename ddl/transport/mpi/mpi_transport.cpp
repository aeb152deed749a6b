// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi/mpi_transport.hpp"

#include "ddl/core/delayed_note.hpp"
#include "ddl/core/host_id.hpp"
#include "ddl/error.hpp"
#include "ddl/launcher.hpp"
#include "ddl/transport/mpi/mpi_finalize.hpp"
#include "ddl/transport/mpi/mpi_finalize_guard.hpp"
#include "ddl/transport/mpi/mpi_gather.hpp"
#include "ddl/transport/mpi/mpi_message_wire.hpp"
#include "ddl/transport/mpi/mpi_node_comm.hpp"
#include "ddl/transport/mpi/mpi_oob_channel.hpp"
#include "ddl/transport/mpi/mpi_peer_comm.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace ddl {
namespace {

// MPI counts are ints.
constexpr std::size_t max_elements = 1U << 30U;

template <typename Number, typename Before>
void keep_first(const void* in, void* kept, std::size_t count) {
  const auto* const numbers = static_cast<const Number*>(in);
  auto* const first = static_cast<Number*>(kept);
  for (std::size_t i = 0; i < count; ++i)
    if (Before()(numbers[i], first[i]) || numbers[i] != numbers[i]) first[i] = numbers[i];
}

// Keeps a NaN. MPI_MAX and MPI_MIN lose it in some orders of the ranks.
template <template <typename> typename Before>
void keep_first(void* in, void* kept, int* count, MPI_Datatype* type) {
  const auto elements = static_cast<std::size_t>(*count);
  *type == MPI_FLOAT ? keep_first<float, Before<float>>(in, kept, elements)
                     : keep_first<double, Before<double>>(in, kept, elements);
}

// Open MPI 4.1 on AVX ends the sums of MPI_UINT8_T at 255 (measured: 4.1.4; MPICH 4.0 wraps around).
void add_bytes(void* in, void* kept, int* count, MPI_Datatype* /*type*/) {
  const auto* const numbers = static_cast<const std::uint8_t*>(in);
  auto* const sums = static_cast<std::uint8_t*>(kept);
  for (int i = 0; i < *count; ++i) sums[i] = static_cast<std::uint8_t>(sums[i] + numbers[i]);
}

MPI_Datatype mpi_type_of(DataType type) {
  switch (type) {
    case DataType::float32:
      return MPI_FLOAT;
    case DataType::float64:
      return MPI_DOUBLE;
    case DataType::int32:
      return MPI_INT32_T;
    case DataType::int64:
      return MPI_INT64_T;
    case DataType::uint8:
      return MPI_UINT8_T;
    case DataType::float16:
    case DataType::bfloat16:
      break;
  }
  return MPI_DATATYPE_NULL;
}

class MpiTransport : public Transport {
 public:
  // Over a copy of `ranks`.
  MpiTransport(MPI_Comm ranks, bool started_here) : started_here_(started_here) {
    MPI_Comm_dup(ranks, &all_);
    begin();
    find_hosts();
  }
  // A group, whose communicator it takes over. `host`: of this rank, as the first Context names it.
  MpiTransport(MPI_Comm group, std::string host) : all_(group), host_(std::move(host)) { begin(); }
  void begin() {
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    MPI_Op_create(&keep_first<std::greater>, 1, &larger_);
    MPI_Op_create(&keep_first<std::less>, 1, &smaller_);
    MPI_Op_create(&add_bytes, 1, &byte_sum_);
  }
  ~MpiTransport() override {
    if (abandoned_) return;
    MPI_Op_free(&larger_);
    MPI_Op_free(&smaller_);
    MPI_Op_free(&byte_sum_);
    MPI_Comm_free(&all_);
    finalize_guard_.release();
    if (started_here_) finalize_mpi();
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::string> gather(const std::string& mine) override { return gather_strings(all_, mine); }

  std::string host_name() const override { return host_; }

  std::unique_ptr<NodeComm> make_node_comm(const Grid& grid) override {
    // On uneven hosts each rank stands for itself.
    const bool is_alone = grid.place(rank_).local_ranks.size() == 1;
    return make_mpi_node_comm(is_alone ? MPI_COMM_SELF : all_, grid.first_rank_of(rank_));
  }
  std::vector<std::unique_ptr<PeerComm>> make_level_comms(const Grid& grid, double timeout_seconds) override {
    return make_mpi_level_comms(all_, grid, timeout_seconds);
  }
  // All ranks on one level: as if each had a host of its own.
  std::unique_ptr<PeerComm> make_global_comm(const Grid& grid, double timeout_seconds) override {
    std::vector<std::string> each;
    for (int r = 0; r < size_; ++r) {
      const auto host = static_cast<std::size_t>(grid.host_of[static_cast<std::size_t>(r)]);
      each.push_back(fmt::format("{} #{}", grid.hosts[host], r));
    }
    Grid flat = plan_grid("", each);
    flat.first_ranks = grid.first_ranks;
    return std::move(make_mpi_level_comms(all_, flat, timeout_seconds).at(0));
  }

  std::unique_ptr<Transport> split(const SplitPlan& plan) override {
    MPI_Comm group = MPI_COMM_NULL;
    MPI_Comm_split(all_, plan.members.empty() ? MPI_UNDEFINED : plan.color, plan.me, &group);
    if (group == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiTransport>(group, host_);
  }

  std::unique_ptr<OobChannel> make_oob_channel() override { return make_mpi_oob_channel(all_); }

  std::unique_ptr<MessageWire> make_message_wire() override { return make_mpi_message_wire(all_); }

  bool native_all_reduce(const std::byte* in, std::byte* out, std::size_t count, DataType type,
                         Operation operation) override {
    const MPI_Datatype number = mpi_type_of(type);
    if (number == MPI_DATATYPE_NULL) return false;
    const MPI_Op how = mpi_operation(operation, type);
    for (std::size_t at = 0; at < count; at += max_elements) {
      const std::size_t part = std::min(max_elements, count - at);
      MPI_Allreduce(in + at * size_of(type), out + at * size_of(type), static_cast<int>(part), number, how,
                    all_);
    }
    return true;
  }

  bool takes_one_thread() const override {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level < MPI_THREAD_MULTIPLE;
  }
  void abandon() noexcept override {
    abandoned_ = true;
    finalize_guard_.release();
  }
  void abort(int status) noexcept override {
    if (size_ > 1) abort_mpi(status);
  }

 private:
  // An average is a sum here.
  MPI_Op mpi_operation(Operation operation, DataType type) const {
    switch (operation) {
      case Operation::max:
        return is_integer(type) ? MPI_MAX : larger_;
      case Operation::min:
        return is_integer(type) ? MPI_MIN : smaller_;
      case Operation::product:
        return MPI_PROD;
      case Operation::sum:
      case Operation::average:
        break;
    }
    return type == DataType::uint8 ? byte_sum_ : MPI_SUM;
  }
  // MPI knows where memory can be shared: containers with one name are still two hosts.
  void find_hosts() {
    MPI_Comm sharing = MPI_COMM_NULL;
    MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &sharing);
    int first = rank_;
    MPI_Bcast(&first, 1, MPI_INT, 0, sharing);
    MPI_Comm_free(&sharing);
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    std::vector<HostId> ids;
    std::vector<std::string> names;
    for (const std::string& card : gather_strings(all_, fmt::format("{} {}", first, name.data()))) {
      const std::size_t blank = card.find(' ');
      names.push_back(card.substr(blank + 1));
      ids.push_back({names.back(), card.substr(0, blank)});
    }
    const std::vector<std::string> hosts = name_hosts(ids);
    host_ = hosts[static_cast<std::size_t>(rank_)];
    const auto split = std::mismatch(hosts.begin(), hosts.end(), names.begin());
    if (rank_ == 0 && split.first != hosts.end()) print_split(*split.second);
  }
  static void print_split(const std::string& host) {
    fmt::print(stderr,
               "libddl: note: not all ranks of {} share memory: those that do count as a host of their own\n"
               "  try: one container or job step for all ranks of a host; with mpiexec -f FILE of MPICH each "
               "host once in it, {}:2\n",
               host, host);
  }

  FinalizeGuard finalize_guard_;
  bool started_here_ = false;
  bool abandoned_ = false;
  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Op larger_ = MPI_OP_NULL;
  MPI_Op smaller_ = MPI_OP_NULL;
  MPI_Op byte_sum_ = MPI_OP_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::string host_;
};

// MPI of another kind than the launcher's starts each process as rank 0 of 1.
void require_launched_size(bool is_started_here) {
  const std::optional<int> expected = launched_size();
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // A program that starts MPI may have a world of its own, of several ranks.
  if (!expected || *expected == size || (!is_started_here && size > 1)) return;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string text = version;
  if (is_started_here) MPI_Finalize();
  throw Error(Fault::unsupported,
              fmt::format("the launcher started {} ranks, and MPI finds {}: it is not the launcher's MPI",
                          *expected, size),
              text.substr(0, text.find_first_of("\n,")),
              "the mpirun of this MPI; or load the MPI of the launcher (module load, LD_LIBRARY_PATH)");
}

void require_several_threads(int level) {
  if (level < MPI_THREAD_SERIALIZED) {
    throw Error(
        Fault::usage, "MPI was started for one thread only; sums are made by a thread of their own", "MPI",
        "MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided), or leave it to ddl::Context");
  }
}

// Such a handle has another size under MPICH (an int) than under Open MPI (a pointer).
MPI_Comm communicator_of(const MpiComm& ranks) {
  if (ranks.size != sizeof(MPI_Comm))
    throw Error(Fault::usage,
                fmt::format("an MPI_Comm of {} bytes, where the MPI of this process has {}", ranks.size,
                            sizeof(MPI_Comm)),
                "MPI", "the mpirun of the MPI with which the program was compiled");
  MPI_Comm comm = MPI_COMM_NULL;
  std::memcpy(&comm, &ranks.handle, sizeof(comm));
  int is_between_groups = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_test_inter(comm, &is_between_groups);
  if (comm == MPI_COMM_NULL || is_between_groups != 0)
    throw Error(Fault::usage,
                comm == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL" : "this is an intercommunicator",
                "MPI", "the communicator of this rank; where MPI_Comm_split gave it none, no Context");
  return comm;
}

// MPI waits for all ranks without a deadline.
int start_mpi(int& argc, char**& argv) {
  const auto rank = launched_rank();
  const std::string who = rank ? fmt::format("rank {}", *rank) : "this process";
  const DelayedNote note(
      fmt::format("libddl: note: {} has waited in MPI_Init for 30 s: another rank has ended, or "
                  "has not made its Context yet\n"
                  "  try: look at the output of the other ranks\n",
                  who),
      std::chrono::seconds(30));
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  return level;
}

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(const MpiComm& ranks) {
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0 || is_mpi_over())
    throw Error(Fault::usage,
                started == 0 ? "MPI has not started in this process" : "MPI has ended in this process", "MPI",
                "MPI_Init_thread before the Context, MPI_Finalize after it");
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  require_several_threads(level);
  return std::make_unique<MpiTransport>(communicator_of(ranks), false);
}

std::unique_ptr<Transport> make_mpi_transport(int& argc, char**& argv) {
  if (is_mpi_over())
    throw Error(Fault::usage, "MPI has ended in this process, and starts only once", "MPI",
                "one Context for the whole program; or MPI_Init_thread before the first, MPI_Finalize after "
                "the last");
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0 && !launched_rank()) return make_single_process_transport();
  int level = MPI_THREAD_SINGLE;
  if (started != 0)
    MPI_Query_thread(&level);
  else
    level = start_mpi(argc, argv);
  require_launched_size(started == 0);
  require_several_threads(level);
  return std::make_unique<MpiTransport>(MPI_COMM_WORLD, started == 0);
}

}  // namespace ddl
