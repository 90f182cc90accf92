#!/usr/bin/env bash
# The fuzz targets (tests/fuzz/TARGET.c) over their corpora (tests/fuzz/TARGET/), each file as it is and with
# FUZZ_MUTATIONS changes (default 2000; the seed is fixed). With FUZZ_SECONDS, instead, each target under
# libFuzzer for so long; what it finds is left in FUZZ_FOUND (default: a folder that is named). Needs VR_BUILD
# and VR_ROOT, which run-tests sets.
set -euo pipefail
root=$(realpath "${VR_ROOT:-.}")
build=$(realpath "${VR_BUILD:-build}")/tests/fuzz
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# verdict TARGET STATUS INPUT...: a failure keeps the input that showed it.
verdict() {
    local target=$1 status=$2
    if [ "$status" = 0 ]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    echo "FAIL $target: exit status $status"
    tail -n 25 "$scratch/log"
    found=${FUZZ_FOUND:-$(mktemp -d)}
    mkdir -p "$found"
    for input in "$scratch"/crash-* "$scratch"/timeout-* "$scratch"/oom-* "$scratch"/last; do
        [ ! -f "$input" ] || cp "$input" "$found/$target-$(basename "$input")"
    done
    echo "the input is in $found"
}

for target in options params fatbin ptx; do
    corpus=$root/tests/fuzz/$target
    status=0
    if [ -z "${FUZZ_SECONDS:-}" ]; then
        FUZZ_LAST=$scratch/last timeout 120 "$build/$target" "${FUZZ_MUTATIONS:-2000}" "$corpus"/* \
            >"$scratch/log" 2>&1 || status=$?
    elif [ -x "$build/$target.libfuzzer" ]; then
        mkdir -p "$scratch/corpus"
        (cd "$scratch" && "$build/$target.libfuzzer" -max_total_time="$FUZZ_SECONDS" -timeout=10 \
            -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$scratch/" corpus "$corpus") \
            >"$scratch/log" 2>&1 || status=$?
    else
        echo "skipped: $target: there is no clang with libFuzzer"
        continue
    fi
    verdict "$target" "$status"
    rm -rf "$scratch"/*
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] || exit 1
[ $passed != 0 ] || exit 77
