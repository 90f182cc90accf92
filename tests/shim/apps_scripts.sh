#!/usr/bin/env bash
# The scripts that run programs and tests: what run-fake puts into the environment, and that run-tests
# overlooks no failure. Needs VR_BUILD and VR_ROOT, which run-tests sets.
set -euo pipefail

scripts=${VR_ROOT:-.}/scripts
build=$(realpath "${VR_BUILD:-build}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset LD_PRELOAD VAREMAP

fail() {
    echo "failed: $*" >&2
    exit 1
}

# variable NAME RUN-FAKE-OPTION...: its value in a program run so; empty when it is not set.
variable() {
    local name=$1
    shift
    "$scripts/run-fake" "$@" env | sed -n "s/^$name=//p"
}

# ---- run-fake ----

[[ $(variable LD_PRELOAD) != *varemap* ]] || fail "bare: something is preloaded"
[ -z "$(variable VAREMAP)" ] || fail "bare: VAREMAP is set"
for mode in on observe off; do
    [[ $(variable LD_PRELOAD --shim $mode) = *"$build/libvaremap.so" ]] || fail "$mode: not preloaded"
    [ "$(variable VAREMAP --shim $mode)" = $mode ] || fail "$mode: VAREMAP differs"
done
[[ $(variable LD_LIBRARY_PATH) = "$build/fakevmm"* ]] || fail "the fake GPU does not come first"
other=$(LD_PRELOAD=libm.so.6 variable LD_PRELOAD --shim on)
[[ $other = *"$build/libvaremap.so:libm.so.6" ]] || fail "LD_PRELOAD is lost: $other"

status=0
"$scripts/run-fake" --shim on bash -c 'exit 5' || status=$?
[ $status = 5 ] || fail "exit status $status instead of 5"
status=0
VR_BUILD=$scratch "$scripts/run-fake" true 2>"$scratch/message" || status=$?
[ $status = 2 ] || fail "no build: exit status $status"
grep -q 'run make first' "$scratch/message" || fail "no build: no advice"

# ---- run-tests ----

# expect LAST-LINE STATUS TEST...: of run-tests over these.
expect() {
    local line=$1 wanted=$2 got=0
    shift 2
    "$scripts/run-tests" --build "$build" "$@" >"$scratch/log" 2>&1 || got=$?
    [ "$(tail -n 1 "$scratch/log")" = "$line" ] || fail "$*: $(tail -n 1 "$scratch/log"), not $line"
    [ "$got" = "$wanted" ] || fail "$*: exit status $got, not $wanted"
}

echo 'exit 0' >"$scratch/passes.sh"
echo 'echo no luck; exit 3' >"$scratch/fails.sh"
echo 'echo skipped: no GPU; exit 77' >"$scratch/skips.sh"
echo 'echo report >"${ASAN_OPTIONS##*log_path=}.1"' >"$scratch/leaks.sh"

expect "1 passed, 0 failed, 0 skipped" 0 "$scratch/passes.sh"
expect "1 passed, 1 failed, 1 skipped" 1 "$scratch"/{fails,passes,skips}.sh
grep -q 'no luck' "$scratch/log" || fail "the output of a failed test is not shown"
grep -q 'no GPU' "$scratch/log" || fail "the reason of a skip is not shown"
expect "1 passed, 1 failed, 0 skipped" 1 "$scratch/leaks.sh"
expect "0 passed, 0 failed, 1 skipped" 1 "$scratch/skips.sh"
expect "0 passed, 1 failed, 0 skipped" 1 "$scratch/nowhere"
