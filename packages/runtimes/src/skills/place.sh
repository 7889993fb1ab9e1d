# Root's part of placing skills in an agent's machine. The host runs one step at a time:
#   check | put DIGEST VERSION PLACE [VERSION PLACE]... | clean
# `check` says which set is here, and which versions are in it. Then the host writes versions that are not here into
# $state/incoming/VERSION. `put` makes a new set, from these and from the set that is here, and puts it in its place.
set -eu
umask 022
state=${LODGE_STATE:-/var/lib/lodge/skills}
set=$state/set
new=$state/new
incoming=$state/incoming

# Prints a version and its folder, for each that is whole.
folders() {
  for folder in "$incoming"/*; do [ ! -d "$folder" ] || echo "${folder##*/} $folder"; done
  [ ! -e "$set/versions" ] || while read -r version place; do
    [ ! -e "$set/$place/SKILL.md" ] || echo "$version $set/$place"
  done <"$set/versions"
}

clean() { rm -rf "$new" "$incoming" "$state/folders"; }

step=$1
shift
case $step in
check)
  clean
  cat "$set/digest" 2>/dev/null || echo none
  folders | cut -d' ' -f1
  ;;
clean) clean ;;
put)
  digest=$1
  shift
  mkdir -p "$set" "$new"
  : >"$new/versions"
  folders >"$state/folders"
  while [ $# -gt 0 ]; do
    from=$(grep -m 1 "^$1 " "$state/folders")
    mkdir -p "$new/$2"
    cp -R "${from#* }/." "$new/$2"
    echo "$1 $2" >>"$new/versions"
    shift 2
  done
  echo "$digest" >"$new/digest"
  sync -f "$new"
  # RENAME_EXCHANGE: at each moment one whole set is there.
  python3 -ISc 'import ctypes, os, sys
old, new = map(os.fsencode, sys.argv[1:])
sys.exit(ctypes.CDLL(None).renameat2(-100, old, -100, new, 2) and 1)' "$set" "$new" || {
    rm -rf "$set"
    mv "$new" "$set"
  }
  clean
  ;;
esac
