#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bare_install.sh ROOT [PACKAGES]
# Installs the Debian packages of the folder PACKAGES (default: build-package/packages) with apt in a bare Debian 12 in
# the folder ROOT, and uses each. As root. To make such a folder:
#   debootstrap --variant=minbase bookworm ROOT MIRROR
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(realpath "${1:?usage: bare_install.sh ROOT [PACKAGES]}")
packages=$(realpath "${2-$here/../../build-package/packages}")
[[ $root != / && -x $root/usr/bin/apt-get ]] || { echo "bare_install.sh: found no Debian in $root" >&2; exit 2; }
compgen -G "$packages/*.deb" >/dev/null || { echo "bare_install.sh: found no .deb in $packages" >&2; exit 2; }

step() { printf '\n== %s\n' "$*"; }
# inside COMMAND ... - runs it in the root, with /proc in a mount namespace of its own, so that nothing stays mounted. The
# environment is clean, but for the proxy by which apt reaches its sources.
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" "$@"
}

work=$root/tmp/sortie
rm -rf "$work"
mkdir -p "$work"
cp "$packages"/*.deb "$here/data/small.mtx" "$work"
chmod -R a+rX "$work"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
inside apt-get -qq update

step "sortie alone"
inside sh -c 'apt-get -qq install --yes --no-install-recommends /tmp/sortie/sortie_*.deb >/tmp/sortie/log 2>&1' ||
  { cat "$work/log"; exit 1; }
inside sortie --version
inside sortie info
inside sortie spgemm /tmp/sortie/small.mtx --transpose-b -o /tmp/sortie/C.mtx --verify
[[ -s $work/C.mtx ]] || { echo "found no product of sortie spgemm"; exit 1; }

step "all packages, a compiler and man"
inside sh -c 'apt-get -qq install --yes --no-install-recommends man-db zsh bash-completion gcc g++ libc6-dev cmake make pkgconf \
  /tmp/sortie/*.deb >/tmp/sortie/log 2>&1' || { cat "$work/log"; exit 1; }
names=()
for file in "$work"/*.deb; do
  name=$(dpkg-deb --field "$file" Package)
  names+=("$name")
  inside dpkg-query --show --showformat '${Package} ${Version} ${db:Status-Status}\n' "$name"
  for document in copyright changelog.Debian.gz; do
    [[ -s $root/usr/share/doc/$name/$document ]] || { echo "$name: found no $document"; exit 1; }
  done
done
for page in sortie sortie-spgemm sortie-suffix-array sortie-query sortie-sort sortie-info sortie-completion; do
  inside man -w "$page"
done

step "completion"
inside bash -c 'source /usr/share/bash-completion/bash_completion; _completion_loader sortie || true
  COMP_WORDS=(sortie sp) COMP_CWORD=1; _sortie; echo "sortie sp: ${COMPREPLY[*]}"; [[ ${COMPREPLY[*]} == spgemm ]]'
inside zsh -fc 'autoload -Uz compinit; compinit -u -D; [[ $_comps[sortie] == _sortie ]] && echo "zsh: $_comps[sortie]"'

step "a program in C, with libsortie.so"
cat >"$work/program.c" <<'PROGRAM'
#include <sortie/sortie.h>
#include <stdio.h>

int main(void) {
  uint32_t keys[] = {3, 1, 2};
  sortie_context* context = sortie_context_create();
  const sortie_status status =
      sortie_sort(context, SORTIE_HOST_MEMORY, SORTIE_U32, keys, keys, 3, NULL, NULL, 0, 0);
  if (status != SORTIE_OK) fprintf(stderr, "%s\n", sortie_last_error(context));
  sortie_context_destroy(context);
  printf("%u %u %u\n", (unsigned)keys[0], (unsigned)keys[1], (unsigned)keys[2]);
  return status == SORTIE_OK && keys[0] == 1 && keys[2] == 3 ? 0 : 1;
}
PROGRAM
inside sh -c 'cd /tmp/sortie && gcc -std=c99 -Wall -Wextra -Werror program.c -o program $(pkg-config --cflags --libs sortie) && ./program'

step "programs in C++, with libsortie.a, by CMake and by pkg-config"
cp -r "$here/consumer" "$here/build_by_pkg_config.sh" "$here/data" "$work"
inside sh -c 'cd /tmp/sortie && cmake -S consumer -B consumer/build >log && cmake --build consumer/build >>log 2>&1' ||
  { cat "$work/log"; exit 1; }
inside /tmp/sortie/consumer/build/consumer /tmp/sortie/data/small.mtx /tmp/sortie/data/small.fa
inside sh -c '/tmp/sortie/build_by_pkg_config.sh g++ "$(pkg-config --variable=pcfiledir sortie)" /tmp/sortie/by_pkg_config'

if compgen -G "$work/python3-sortie_*.deb" >/dev/null; then
  step "Python"
  inside python3 -c 'import sortie; print(sortie, sortie.__version__)'
fi

step "removal"
inside sh -c 'apt-get -qq purge --yes "$@" >/tmp/sortie/log 2>&1' sh "${names[@]}" || { cat "$work/log"; exit 1; }
left=$(find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*sortie*' -not -path "$root/var/lib/dpkg/info/*.list")
[[ -z $left ]] || { printf 'found after the removal:\n%s\n' "$left"; exit 1; }
rm -rf "$work"
printf '\nAll packages work.\n'
