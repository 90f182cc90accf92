#!/usr/bin/env bash
# Random programs (tests/random) on the fake GPU alone: none uses what is gone or breaks a rule of capture
# (FAKEVMM_STRICT), leaves a handle behind (FAKEVMM_LEAKS), ends with an error, or does not end; and each
# observes the same a second time. RANDOM_SEEDS says how many there are (default 100).
# Needs VR_BUILD and VR_ROOT, which run-tests sets.
set -euo pipefail

seeds=${RANDOM_SEEDS:-100}
each=50     # seeds in one process
seconds=300 # that one may take

run_fake=${VR_ROOT:-.}/scripts/run-fake
program=$(realpath "${VR_BUILD:-build}")/tests/random/program
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export FAKEVMM_STRICT=1 FAKEVMM_LEAKS=1
VR_SAN_RUNTIME=$("$run_fake" --sanitizer)
export VR_SAN_RUNTIME

# run OUTPUT: seeds first to last.
run() {
    timeout "$seconds" "$run_fake" "$program" --seeds "$first-$last" >"$1" 2>"$scratch/errors" || {
        echo "failed: exit status $? of --seeds $first-$last" >&2
        cat "$scratch/errors" >&2
        exit 1
    }
    [ ! -s "$scratch/errors" ] || {
        echo "failed: --seeds $first-$last said something" >&2
        cat "$scratch/errors" >&2
        exit 1
    }
}

for ((first = 1; first <= seeds; first += each)); do
    last=$((first + each - 1 < seeds ? first + each - 1 : seeds))
    run "$scratch/once"
    [ "$(wc -l <"$scratch/once")" = $((last - first + 1)) ] || { echo "failed: lines are missing" >&2; exit 1; }
done
# The last ones again.
first=$((first - each))
run "$scratch/again"
diff "$scratch/once" "$scratch/again"
