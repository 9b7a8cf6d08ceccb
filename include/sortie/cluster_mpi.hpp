// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>

#include "sortie/cluster.hpp"

namespace sortie::cluster {

/// The processes of a communicator as ranks. The communicator is duplicated, so messages of the
/// caller and of Sortie do not meet.
///
/// In the library of one MPI: link Sortie::openmpi, Sortie::mpich or Sortie::mpi.
/// \pre MPI_Init() was called, with MPI_THREAD_FUNNELED at least, and MPI_Finalize() is called after
///      the end of the result
/// \throws Error (unavailable) MPI is not initialised, or refuses the communicator
[[nodiscard]] std::unique_ptr<Ranks> make_mpi_ranks(MPI_Comm communicator);

}  // namespace sortie::cluster
