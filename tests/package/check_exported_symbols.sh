#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check_exported_symbols.sh LIBRARY SONAME [LIST]
# A shared libsortie.so exports names of namespace sortie only, none of them internal, and has a SONAME. The functions of
# the C interface are those of LIST: to remove one is to break programs, for which SORTIE_INTERFACE_VERSION is there.
set -euo pipefail
library=$1
soname=$2
list=${3-}
symbols=$(nm --dynamic --defined-only --demangle "$library" | cut -d' ' -f3-)
[ "$(wc -l <<<"$symbols")" -ge 100 ] || { echo "found fewer than 100 exported symbols"; exit 1; }
names=$(nm --dynamic --defined-only "$library" | awk '{ print $NF }')
if foreign=$(grep -Ev '^(_Z(N|NK|TIN|TSN|TVN)6sortie|sortie_)' <<<"$names"); then
  echo "found exported symbols of other namespaces:" && head -20 <<<"$foreign"
  exit 1
fi
if [[ -n $list ]] && ! difference=$(diff "$list" <(grep '^sortie_' <<<"$names" | LC_ALL=C sort)); then
  echo "found other functions of the C interface than the recorded ones:" && echo "$difference"
  exit 1
fi
# Functions that only other sources of the library call.
for internal in sort_on_host sort_on_cuda register_baselines host_memory_available device_pool start_host_runtime; do
  if grep -q "sortie::\(.*::\)\?$internal(" <<<"$symbols"; then
    echo "found the internal function $internal among the exported symbols"
    exit 1
  fi
done
found=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
[ "$found" = "$soname" ] || { echo "found SONAME $found, expected $soname"; exit 1; }
