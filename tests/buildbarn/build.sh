#!/bin/bash
# Builds bin/bb_storage from the Go module proxy, if it is missing or older than
# what it is made of. Go >= 1.26.5: $BR2_GO, else `go` in PATH. Two minutes cold.
set -eu
cd "$(dirname "$0")"
need=$(sed -n 's/^go //p' go.mod)
binary=bin/bb_storage
package=github.com/buildbarn/bb-storage/cmd/bb_storage

stale() {
  [ ! -x "$binary" ] || [ -n "$(find go.mod go.sum bytestream -newer "$binary" -print -quit)" ]
}

fail() {
  echo "build.sh: $*" >&2
  exit 1
}

# GOTOOLCHAIN=local: an old Go says what it is instead of fetching a newer one.
check_go() {
  command -v "$go" >/dev/null || fail "no Go found; install Go >= $need, or name one: BR2_GO=/path/to/go"
  have=$(GOTOOLCHAIN=local "$go" env GOVERSION) || fail "$go does not run"
  have=${have#go}
  printf '%s\n%s\n' "$need" "${have%% *}" | sort -CV ||
    fail "$go is Go $have, needed is >= $need; name another one: BR2_GO=/path/to/go"
}

if ! stale; then
  exit 0
fi
go=${BR2_GO:-go}
check_go
mkdir -p bin
GOTOOLCHAIN=local GOFLAGS=-mod=readonly "$go" build -o "$binary.part" "$package" ||
  fail "cannot build $package; the modules come from GOPROXY=$("$go" env GOPROXY)"
mv "$binary.part" "$binary"
touch "$binary" # the linker may have kept an older time from its cache
