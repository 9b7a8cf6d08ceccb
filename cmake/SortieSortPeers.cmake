# SPDX-License-Identifier: Apache-2.0

# Array sorts on the host that Debian packages, baselines of `sortie bench sort`: SORTIE_HAVE_GNU_PARALLEL (the parallel
# mode of libstdc++, which is part of GCC and requires OpenMP), SORTIE_HAVE_TBB, SORTIE_HAVE_BOOST_SORT and
# SORTIE_HAVE_VQSORT. std::sort and std::stable_sort are always available.
set(SORTIE_SORT_PEERS AUTO CACHE STRING "Baselines of the host's sort: AUTO (those that are found), ON (all; vqsort if found) or OFF")
set_property(CACHE SORTIE_SORT_PEERS PROPERTY STRINGS AUTO ON OFF)
set(SORTIE_HAVE_GNU_PARALLEL FALSE)
set(SORTIE_HAVE_TBB FALSE)
set(SORTIE_HAVE_BOOST_SORT FALSE)
set(SORTIE_HAVE_VQSORT FALSE)

if(SORTIE_SORT_PEERS)
  include(CMakePushCheckState)
  include(CheckCXXSourceCompiles)
  find_package(OpenMP QUIET COMPONENTS CXX)
  if(OpenMP_CXX_FOUND)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_FLAGS ${OpenMP_CXX_FLAGS})
    set(CMAKE_REQUIRED_LIBRARIES ${OpenMP_CXX_LIBRARIES})
    check_cxx_source_compiles([[
      #include <parallel/algorithm>
      int main() {
        int keys[] = {2, 1};
        __gnu_parallel::sort(keys, keys + 2, __gnu_parallel::default_parallel_tag(2));
      }]] SORTIE_GNU_PARALLEL_FITS)
    cmake_pop_check_state()
    set(SORTIE_HAVE_GNU_PARALLEL ${SORTIE_GNU_PARALLEL_FITS})
  endif()
  find_package(TBB 2021 QUIET CONFIG)
  if(TARGET TBB::tbb)
    set(SORTIE_HAVE_TBB TRUE)
  endif()
  find_package(Boost 1.74 QUIET CONFIG) # Debian's version; older ones are untested
  if(TARGET Boost::headers)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_LIBRARIES Boost::headers)
    check_cxx_source_compiles([[
      #include <boost/sort/sort.hpp>
      int main() {
        int keys[] = {2, 1};
        boost::sort::pdqsort(keys, keys + 2);
      }]] SORTIE_BOOST_SORT_FITS)
    cmake_pop_check_state()
    set(SORTIE_HAVE_BOOST_SORT ${SORTIE_BOOST_SORT_FITS})
  endif()
  find_package(hwy 1.0 QUIET CONFIG)
  if(TARGET hwy::hwy_contrib)
    set(SORTIE_HAVE_VQSORT TRUE)
  endif()
  if(SORTIE_SORT_PEERS STREQUAL "ON")
    foreach(peer "GNU_PARALLEL:g++ (its libstdc++ and OpenMP)" "TBB:libtbb-dev" "BOOST_SORT:libboost-dev")
      string(REGEX MATCH "^([A-Z_]+):(.*)$" peer "${peer}")
      if(NOT SORTIE_HAVE_${CMAKE_MATCH_1})
        message(FATAL_ERROR "SORTIE_SORT_PEERS=ON: a sort was not found. On Debian: apt-get install ${CMAKE_MATCH_2}")
      endif()
    endforeach()
  endif()
endif()
