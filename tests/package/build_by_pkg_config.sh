#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build_by_pkg_config.sh COMPILER PKG_CONFIG_FOLDER WORK_FOLDER [flags ...]
# Builds the consumer with what sortie.pc says, and runs it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
compiler=$1
export PKG_CONFIG_PATH=$2
work=$3
shift 3
mkdir -p "$work"
read -ra cflags <<<"$(pkg-config --cflags sortie)"
read -ra libs <<<"$(pkg-config --static --libs sortie)"
defines=()
if [[ -e ${PKG_CONFIG_PATH%/*}/../bin/sortie || -e ${PKG_CONFIG_PATH%/*}/../../bin/sortie ]]; then
  defines=(-DCONSUMER_HAS_APPLICATIONS)
fi
"$compiler" -std=c++20 -Wall -Wextra -Werror "$@" "${defines[@]}" "${cflags[@]}" "$here/consumer/main.cpp" \
  -o "$work/consumer" "${libs[@]}"
exec "$work/consumer" "$here/data/small.mtx" "$here/data/small.fa"
