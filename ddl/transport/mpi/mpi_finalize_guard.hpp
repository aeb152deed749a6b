// SPDX-License-Identifier: MIT
#pragma once

namespace ddl {

// Until release(), MPI_Finalize in this process prints an error and ends the job: the Context would call MPI
// after its end and crash. From MPI_Init on, one thread at a time in MPI.
class FinalizeGuard {
 public:
  FinalizeGuard();
  ~FinalizeGuard() { release(); }
  FinalizeGuard(const FinalizeGuard&) = delete;
  FinalizeGuard& operator=(const FinalizeGuard&) = delete;

  void release() noexcept;  // calls no MPI

 private:
  bool armed_ = true;
};

}  // namespace ddl
