#!/bin/sh
set -eu
# if [ a = b ]
total=0
limit=${2:-10}

usage() {
    echo "usage: x 1" >&2
    exit 2
}

add() {
    [ "$#" -eq 2 ] || usage
    total=$((total + $1 * 2))
    if [ "$total" -gt "$limit" ] && [ -n "$1" ]; then
        return 1
    fi
    echo "total: $total"
}

cat <<END
if [ x = y ]; then 1
END
if grep -q "x" file 2>/dev/null; then
    rm -f file || true
fi
for i in 1 2 3; do
    add "$i" 2
done
exit 0
