// SPDX-License-Identifier: MIT
// Sums between hosts, wires only, against what the network carries: each rank sums its slice with its peers
// on the other hosts. Beside it MPI_Allreduce of the whole vector, out of place. Times are of the slowest
// rank.
//   mpirun ... wire_allreduce DIMS|- MEGABYTES[,...] [ROUNDS] [MESSAGE_KB[,...] [MB_PER_SECOND]]
#include "ddl/collectives/inter_node_collectives.hpp"
#include "ddl/transport/mpi/mpi_peer_comm.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace {

int ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::vector<std::string> host_of_ranks() {
  char mine[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(mine, &length);
  std::vector<char> all(static_cast<std::size_t>(ranks()) * sizeof(mine));
  MPI_Allgather(mine, sizeof(mine), MPI_CHAR, all.data(), sizeof(mine), MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> hosts;
  for (int rank = 0; rank < ranks(); ++rank)
    hosts.emplace_back(all.data() + static_cast<std::size_t>(rank) * sizeof(mine));
  return hosts;
}

double seconds_of(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  work();
  double mine = MPI_Wtime() - begun;
  double slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

// As many bytes as a sum must send and receive, in one plain message each way: what the network can do just
// now.
class PlainTransfer {
 public:
  PlainTransfer(const ddl::Grid& grid, std::size_t bytes) : out_(bytes, 1), in_(bytes, 1) {
    const ddl::Place place = grid.place(my_rank());
    const std::size_t hosts = grid.hosts.size();
    const auto host = static_cast<std::size_t>(place.host);
    takes_part_ = place.local_rank == 0;
    to_ = grid.ranks_of[(host + 1) % hosts][0];
    from_ = grid.ranks_of[(host + hosts - 1) % hosts][0];
  }
  void run() {
    if (!takes_part_) return;
    MPI_Sendrecv(out_.data(), static_cast<int>(out_.size()), MPI_CHAR, to_, 0, in_.data(),
                 static_cast<int>(in_.size()), MPI_CHAR, from_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

 private:
  std::vector<char> out_;
  std::vector<char> in_;
  bool takes_part_ = false;
  int to_ = 0;
  int from_ = 0;
};

struct Contender {
  std::string name;
  double bytes_factor = 1;  // of the float32 limit
  std::function<void()> sum;
  std::vector<double> seconds;
};

void report(std::vector<Contender>& contenders, double limit) {
  for (Contender& each : contenders) std::sort(each.seconds.begin(), each.seconds.end());
  const std::vector<double>& plain = contenders.front().seconds;
  const double plain_least = plain.front();
  const double plain_median = plain[plain.size() / 2];
  for (Contender& each : contenders) {
    const double least = each.seconds.front();
    const double median = each.seconds[each.seconds.size() / 2];
    if (my_rank() != 0) continue;
    std::printf("  %-20s %9.2f / %9.2f ms  limit/time %5.3f / %5.3f  plain/time %5.3f / %5.3f  %5.2f x MPI\n",
                each.name.c_str(), least * 1e3, median * 1e3, limit * each.bytes_factor / least,
                limit * each.bytes_factor / median, plain_least * each.bytes_factor / least,
                plain_median * each.bytes_factor / median,
                contenders.back().seconds[contenders.back().seconds.size() / 2] / median);
  }
}

std::vector<double> numbers_of(const char* text) {
  std::vector<double> numbers;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) numbers.push_back(std::atof(word.c_str()));
  return numbers;
}

void measure(const ddl::Grid& grid, ddl::PeerComms comms, double megabytes, int rounds,
             const std::vector<double>& message_kilobytes, double rate) {
  const std::size_t count = static_cast<std::size_t>(megabytes * 1e6) / sizeof(float);
  const auto locals = static_cast<std::size_t>(grid.dims[0]);
  const std::size_t slice = count / locals;
  std::vector<float> whole(count, 1.0f);
  std::vector<float> result(count, 1.0f);
  ddl::Scratch scratch;
  const double hosts = static_cast<double>(grid.hosts.size());
  const double bytes = 2 * (hosts - 1) / hosts * static_cast<double>(count * sizeof(float));
  PlainTransfer plain(grid, static_cast<std::size_t>(bytes));
  std::vector<Contender> contenders;
  contenders.push_back({"plain transfer", 1, [&] { plain.run(); }, {}});
  const auto ours = [&](const std::string& name, double factor, const ddl::InterNodeOptions& options) {
    contenders.push_back({name,
                          factor,
                          [&, options] {
                            ddl::all_reduce(
                                comms, {ddl::DataType::float32, ddl::Operation::average, 1.0 / ranks()},
                                reinterpret_cast<std::byte*>(whole.data()), slice, options, scratch);
                          },
                          {}});
  };
  for (const double kilobytes : message_kilobytes) {
    ddl::InterNodeOptions options;
    if (kilobytes > 0) options.message_bytes = static_cast<std::size_t>(kilobytes * 1024);
    const std::string suffix = kilobytes > 0 ? " " + std::to_string(options.message_bytes >> 10) + "k" : "";
    ours("direct" + suffix, 1, options);
    options.wire_dtype = ddl::DataType::bfloat16;
    ours("direct bfloat16" + suffix, 0.5, options);
    options.wire_dtype.reset();
    options.algorithm = ddl::InterNodeAlgorithm::ring;
    ours("ring" + suffix, 1, options);
  }
  contenders.push_back({"MPI_Allreduce",
                        1,
                        [&] {
                          MPI_Allreduce(whole.data(), result.data(), static_cast<int>(count), MPI_FLOAT,
                                        MPI_SUM, MPI_COMM_WORLD);
                        },
                        {}});
  for (int round = 0; round <= rounds; ++round) {  // the first is not counted
    for (Contender& each : contenders) {
      const double seconds = seconds_of(each.sum);
      if (round > 0) each.seconds.push_back(seconds);
    }
  }
  const double limit = bytes / rate;
  if (my_rank() == 0) {
    std::printf("%g MB, %s: limit %.2f ms at %.1f MB/s\n", megabytes, grid.text().c_str(), limit * 1e3,
                rate / 1e6);
  }
  report(contenders, limit);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (argc < 3) {
    if (my_rank() == 0)
      std::fprintf(
          stderr,
          "usage: wire_allreduce DIMS|- MEGABYTES[,...] [ROUNDS] [MESSAGE_KB[,...] [MB_PER_SECOND]]\n");
    MPI_Finalize();
    return 2;
  }
  const std::vector<std::string> hosts = host_of_ranks();
  const ddl::Grid grid = ddl::plan_grid(std::string(argv[1]) == "-" ? "" : argv[1], hosts);
  {
    const auto owned = ddl::make_mpi_level_comms(MPI_COMM_WORLD, grid, 30);
    std::vector<ddl::PeerComm*> comms;
    for (const auto& comm : owned) comms.push_back(comm.get());
    const double rate = argc > 5 ? std::atof(argv[5]) * 1e6 : 117.1e6;
    for (const double megabytes : numbers_of(argv[2])) {
      measure(grid, comms, megabytes, argc > 3 ? std::atoi(argv[3]) : 5, numbers_of(argc > 4 ? argv[4] : "0"),
              rate);
    }
  }
  MPI_Finalize();
}
