// SPDX-License-Identifier: MIT
#include "doctor/gather/software.hpp"

#include <array>

namespace ddlrun::doctor {

std::span<const Gatherer> software_gatherers() {
  using std::chrono::milliseconds;
  static const std::array<Gatherer, 9> table{{
      {"ssh", Level::quick, milliseconds(5000), gather_ssh},
      {"mpi", Level::quick, milliseconds(8000), gather_mpi},
      {"programs", Level::quick, milliseconds(15000), gather_programs},
      {"python", Level::quick, milliseconds(5000), gather_python},
      {"environment", Level::quick, milliseconds(5000), gather_environment},
      {"cores", Level::quick, milliseconds(5000), gather_cores},
      {"scheduler", Level::quick, milliseconds(15000), gather_scheduler},
      {"program-contents", Level::full, milliseconds(60000), gather_program_contents},
      {"mpi-details", Level::full, milliseconds(12000), gather_mpi_details},
  }};
  return table;
}

}  // namespace ddlrun::doctor
