#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build_by_pkg_config.sh COMPILER PKG_CONFIG_FOLDER WORK_FOLDER [flags ...]
# Builds the consumer with what sortie.pc and sortie-static.pc say, and runs it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
compiler=$1
export PKG_CONFIG_PATH=$2
work=$3
shift 3
mkdir -p "$work"
defines=()
if [[ -e ${PKG_CONFIG_PATH%/*}/../bin/sortie || -e ${PKG_CONFIG_PATH%/*}/../../bin/sortie ]]; then
  defines=(-DCONSUMER_HAS_APPLICATIONS)
fi
read -ra cflags <<<"$(pkg-config --cflags sortie)"
"$compiler" -std=c++20 -Wall -Wextra -Werror "$@" "${defines[@]}" "${cflags[@]}" -c \
  "$here/consumer/main.cpp" -o "$work/consumer.o"
packages=(sortie)
if [[ -e $PKG_CONFIG_PATH/sortie-static.pc ]]; then packages+=(sortie-static); fi
for package in "${packages[@]}"; do
  read -ra libs <<<"$(pkg-config --libs "$package")"
  "$compiler" "$@" "$work/consumer.o" -o "$work/consumer_of_$package" "${libs[@]}"
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir sortie) \
    "$work/consumer_of_$package" "$here/data/small.mtx" "$here/data/small.fa"
done
# Only the first one needs the shared library at run time.
needed() { objdump -p "$work/consumer_of_$1" | grep -c 'NEEDED.*libsortie' || true; }
[[ $(needed sortie) == 1 ]] || { echo "sortie.pc: expected libsortie.so to be linked"; exit 1; }
[[ ${#packages[@]} == 1 || $(needed sortie-static) == 0 ]] || { echo "sortie-static.pc: found libsortie.so linked"; exit 1; }
