#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build_kokkos.sh PREFIX - builds Kokkos with OpenMP and Serial and installs it to PREFIX.
#
# Debian packages Kokkos with Serial only, but its source package `trilinos` contains all of Kokkos.
# The script downloads it from the machine's apt sources, read as deb-src from a private list. The
# apt state of the system is not changed, and root is not required.
set -euo pipefail

prefix=$(realpath -m "${1:?usage: build_kokkos.sh PREFIX}")
work=$(mktemp -d "${TMPDIR:-/tmp}/sortie-kokkos.XXXXXX")
trap 'rm -rf "$work"' EXIT

fail() {
  echo "build_kokkos.sh: $*" >&2
  echo "build_kokkos.sh: install Kokkos 3.4 or newer with -DKokkos_ENABLE_OPENMP=ON yourself and configure Sortie with -DKokkos_ROOT=PREFIX" >&2
  exit 1
}

# Converts a file of apt sources, in either format, to a list of source packages.
as_source_list() {
  case $1 in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$1" ;;
    *) sed -nE 's/^deb(-src)?[[:space:]]/deb-src /p' "$1" | sort -u ;;
  esac
}

# Downloads the source package using only the apt sources of file $1.
download_through() {
  local list=$work/list.${1##*.}
  rm -rf "$work/state" && mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  as_source_list "$1" >"$list"
  [[ -s $list ]] || return 1
  local options=(-qq -o "Dir::Etc::sourcelist=$list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$work/state/lists" -o "Dir::Cache=$work/cache"
    -o APT::Sandbox::User= -o Acquire::Languages=none)
  apt-get "${options[@]}" update && (cd "$work" && apt-get "${options[@]}" source --download-only trilinos)
}

download() {
  command -v apt-get >/dev/null || fail "found no apt-get to download the source package trilinos with"
  local file
  # The distribution's own sources first; third-party sources do not contain trilinos.
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/{debian,ubuntu}.sources \
    /etc/apt/sources.list.d/*.{sources,list}; do
    [[ -f $file ]] || continue
    if download_through "$file" >"$work/apt.log" 2>&1; then return; fi
    cat "$work/apt.log" >>"$work/all.log"
  done
  cat "$work/all.log" >&2 || true
  fail "none of the machine's apt sources offers the source package trilinos"
}

echo "Downloading Kokkos (source package trilinos) ..."
download

echo "Unpacking Kokkos ..."
mkdir "$work/source"
# Kokkos is a small part of the package; nothing else is unpacked.
tar -xf "$work"/trilinos_*.orig.tar.* -C "$work/source" --strip-components=3 --wildcards '*/packages/kokkos/*'
[[ -f $work/source/CMakeLists.txt ]] || fail "the source package trilinos holds no packages/kokkos"

echo "Building Kokkos with OpenMP ..."
generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
if ! {
  cmake -S "$work/source" -B "$work/build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON \
    -DKokkos_CXX_STANDARD=17 -DCMAKE_CXX_EXTENSIONS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON &&
    cmake --build "$work/build" --parallel "$(nproc)" &&
    # Installed to a temporary folder and moved: an interrupted build leaves nothing that looks complete.
    cmake --install "$work/build" --prefix "$prefix.partial"
} >"$work/build.log" 2>&1; then
  tail -n 40 "$work/build.log" >&2
  rm -rf "$prefix.partial"
  fail "building Kokkos failed"
fi
rm -rf "$prefix"
mv "$prefix.partial" "$prefix"
echo "Kokkos is in $prefix"
