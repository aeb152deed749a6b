// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi/mpi_gather.hpp"

#include <numeric>

namespace ddl {

std::vector<std::string> gather_strings(MPI_Comm ranks, const std::string& mine) {
  int size = 0;
  MPI_Comm_size(ranks, &size);
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(size));
  MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, ranks);
  std::vector<int> starts(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
  std::string all(static_cast<std::size_t>(starts.back() + lengths.back()), '\0');
  MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, ranks);
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    texts.push_back(all.substr(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(lengths[r])));
  return texts;
}

}  // namespace ddl
