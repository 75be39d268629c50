#!/bin/bash
# Runs a command as nobody, without one capability: unprivileged.sh PATH... -- COMMAND...
# The PATHs are what the command reads. Where a folder above them is closed (/root, as a rule), an
# open one with nothing else in it is laid over it, in a mount namespace that ends with the command.
set -euo pipefail
if [ "${1:-}" != inside ]; then
  exec unshare --mount --propagation private -- "$0" inside "$@"
fi
shift
paths=()
while [ "$1" != -- ]; do paths+=("$1"); shift; done
shift
for path in "${paths[@]}"; do
  folder=/
  IFS=/ read -r -a parts <<<"$(realpath "$path")"
  for part in "${parts[@]}"; do
    [ -n "$part" ] || continue
    if [ ! -e "$folder/$part" ]; then break; fi
    mode=$(stat -c %a "$folder")
    if [ $(( 8#$mode & 1 )) -eq 0 ]; then
      aside=$(mktemp -d)
      mount --bind "$folder/$part" "$aside"
      mount -t tmpfs -o mode=755 artery-test "$folder"
      mkdir "$folder/$part"
      mount --move "$aside" "$folder/$part"
      rmdir "$aside"
    fi
    folder=${folder%/}/$part
  done
done
exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all \
  --inh-caps=-all -- "$@"
