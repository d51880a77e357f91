#!/bin/sh
# The commands of the README, on the collection in examples/.
set -eu
longform=$1
rm -rf .demo
run() {
    printf '\n$ longform'
    for word in "$@"; do
        case $word in *[!A-Za-z0-9./_-]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    "$longform" "$@"
}
run index examples/pages -o .demo/examples.index
run ask .demo/examples.index "Who was the ruler of France in 1830?"
