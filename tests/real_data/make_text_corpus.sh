#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds a text corpus from Debian's documentation packages: JSONL, one line for each HTML or text
# file, with its path and its text, HTML without tags. Links are left out.
#
#   make_text_corpus.sh OUT.jsonl[.zst] [PACKAGE...]
#
# By default eight packages of Debian 12, about 1 GB of text with many natural duplicates: navigation,
# licences, signatures that repeat. Needs apt-get with package lists, dpkg, python3, and zstd for .zst.
set -eu
out=$1
shift
if [ $# = 0 ]; then
  set -- rust-doc linux-doc-6.1 openjdk-17-doc ghc-doc sagemath-doc debian-handbook libstdc++-12-doc unicode-cldr-core
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/text.py" <<'PY'
import html, json, os, re, sys

NO_TEXT = re.compile(rb"<(script|style|svg)\b.*?</\1\s*>|<!--.*?-->", re.S | re.I)
TAG = re.compile(rb"<[^<>]*>")
BLANKS = re.compile(r"[ \t\r\f]+")
LINES = re.compile(r"\s*\n\s*")

root = sys.argv[1]
for folder, folders, names in os.walk(root):
    folders.sort()
    for name in sorted(names):
        path = os.path.join(folder, name)
        if os.path.islink(path) or not name.endswith((".html", ".htm", ".txt", ".xml", ".rst", ".js.rst")):
            continue
        with open(path, "rb") as file:
            content = file.read()
        if name.endswith((".html", ".htm")):
            content = TAG.sub(b" ", NO_TEXT.sub(b" ", content))
        text = content.decode("utf-8", "replace")
        if name.endswith((".html", ".htm")):
            text = LINES.sub("\n", BLANKS.sub(" ", html.unescape(text)))
        line = json.dumps({"path": os.path.relpath(path, root), "text": text}, ensure_ascii=False)
        sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
PY
make() {
  for package; do
    (cd "$work" && apt-get -q download "$package" >/dev/null 2>&1) || { echo "$package: cannot be downloaded" >&2; return 1; }
    dpkg -x "$work"/"$package"_*.deb "$work/files"
    python3 "$work/text.py" "$work/files"
    rm -rf "$work/files" "$work"/*.deb
  done
}
case $out in
  *.zst) make "$@" | zstd -q -T0 -o "$out" -f ;;
  *) make "$@" >"$out" ;;
esac
