#!/usr/bin/env bash
# Random programs (tests/random), bare and under the library: whatever they can observe is the same.
# RANDOM_SEEDS says how many there are (default 1000). Each process runs some of them, in one of the ways
# below. Needs VR_BUILD and VR_ROOT, which run-tests sets.
set -euo pipefail

seeds=${RANDOM_SEEDS:-1000}
each=25 # seeds in one process

run_fake=${VR_ROOT:-.}/scripts/run-fake
program=$(realpath "${VR_BUILD:-build}")/tests/random/program
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

ways=(
    "FAKEVMM_VA=churn VAREMAP_BACKING=learned"
    "FAKEVMM_VA=churn VAREMAP_BACKING=eager VAREMAP_MIN_SIZE=1"
    "FAKEVMM_VA=lifo VAREMAP_BACKING=learned VAREMAP_PROFILE_LAUNCHES=2"
    "FAKEVMM_VA=lifo VAREMAP_BACKING=eager VAREMAP_KEEP_BYTES=8M"
    "FAKEVMM_VA=churn VAREMAP_BACKING=learned VAREMAP_FREE_SYNC=0"
)

# fail WHAT FILE: the command that shows the failure, and what was printed.
fail() {
    echo "failed: $1" >&2
    echo "  $way FAKEVMM_STRICT=1 scripts/run-fake --shim on $program --seeds $first-$last" >&2
    cat "$2" >&2
    exit 1
}

number=0
recycled=0
for ((first = 1; first <= seeds; first += each)); do
    last=$((first + each - 1 < seeds ? first + each - 1 : seeds))
    way=${ways[number % ${#ways[@]}]}
    number=$((number + 1))
    read -ra settings <<<"$way"
    for how in bare on; do
        options=$([ $how = bare ] || echo "--shim on")
        # shellcheck disable=SC2086 # no option, or two words
        env "${settings[@]}" FAKEVMM_STRICT=1 VAREMAP_STATS="$scratch/stats" "$run_fake" $options \
            "$program" --seeds "$first-$last" >"$scratch/$how" 2>"$scratch/errors" ||
            fail "exit status of the $how run" "$scratch/errors"
        [ ! -s "$scratch/errors" ] || fail "the $how run said something" "$scratch/errors"
    done
    diff "$scratch/bare" "$scratch/on" >"$scratch/diff" || fail "results differ" "$scratch/diff"
    [ "$(wc -l <"$scratch/on")" = $((last - first + 1)) ] || fail "lines are missing" "$scratch/on"
    recycled=$((recycled + $(sed -n 's/.*"allocs_recycled": \([0-9]*\).*/\1/p' "$scratch/stats")))
done

# Without memory of ours the comparison would show nothing.
[ $recycled -gt "$seeds" ] || {
    echo "failed: only $recycled allocations were recycled by $seeds programs" >&2
    exit 1
}
