# Kokkos::kokkos: an installed one when it has OpenMP, otherwise the one that `quickstart` built into the build folder.
find_package(Kokkos 3.4 REQUIRED)
