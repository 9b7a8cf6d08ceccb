// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>

#include "sortie/cluster.hpp"

namespace sortie::cluster {

/// The processes of a communicator as ranks. The communicator is duplicated, so messages of the
/// caller and of Sortie do not meet.
///
/// In a library for each MPI, Sortie::openmpi, Sortie::mpich or Sortie::mpi, of a build by
/// add_subdirectory(). Collective.
/// \pre MPI_Init() was called, with MPI_THREAD_FUNNELED at least, and MPI_Finalize() is called after
///      the end of the result
/// \throws Error (unavailable) MPI is not initialised; (device) a call of MPI failed
[[nodiscard]] std::unique_ptr<Ranks> make_mpi_ranks(MPI_Comm communicator);

}  // namespace sortie::cluster
