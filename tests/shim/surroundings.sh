#!/usr/bin/env bash
# The library under debuggers and checkers, in sanitized programs, and where something usual is missing:
# the program's result is the same. What this machine does not permit is left out, and said.
set -u
build=$(realpath "${VR_BUILD:-build}")
run_fake=$(realpath "${VR_ROOT:-.}")/scripts/run-fake
lib=$build/libvaremap.so
work=$build/tests/progs/work_linked
temp=$(mktemp -d /tmp/varemap-test-XXXXXX) # where another user gets to
chmod 755 "$temp"
trap 'rm -rf "$temp"' EXIT
passed=0
failed=0
skipped=0

if [ -n "$("$run_fake" --sanitizer)" ]; then
    echo "skipped: a sanitizer's runtime does not work under other tools"
    exit 77
fi

fake() { LD_LIBRARY_PATH=$build/fakevmm VAREMAP_STATS=$temp/stats "$@"; }
on() { fake env LD_PRELOAD="$lib" "$@"; }

# case NAME COMMAND...: its output has the work's result, and the statistics say that it was seen.
case_of() {
    local name=$1
    shift
    rm -f "$temp/stats"
    timeout 120 "$@" >"$temp/out" 2>"$temp/err" </dev/null
    if grep -q '^result 3000837307346$' "$temp/out" && grep -q '"updates_elided": 782' "$temp/stats"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        tail -n 20 "$temp/out" "$temp/err" "$temp/stats"
    fi
}

left_out() {
    skipped=$((skipped + 1))
    echo "skipped: $*"
}

export build run_fake lib work temp
export -f fake on

# ---- debuggers and checkers ----

if gdb -batch -ex run --args true >"$temp/gdb" 2>&1 && grep -q 'exited normally' "$temp/gdb"; then
    case_of "gdb, a breakpoint in a hook" gdb -nx -batch -ex 'set breakpoint pending on' -ex 'set confirm off' \
        -ex 'set print thread-events off' \
        -ex "set exec-wrapper env LD_PRELOAD=$lib LD_LIBRARY_PATH=$build/fakevmm VAREMAP_STATS=$temp/stats" \
        -ex 'break cuGraphLaunch' -ex run -ex bt -ex delete -ex continue --args "$work"
    grep -qE 'Breakpoint 1(\.[0-9]+)?, ' "$temp/out" || { failed=$((failed + 1)); echo "FAIL gdb did not stop"; cat "$temp/out"; }
    # gdb itself, with the library preloaded into it (P9)
    LD_PRELOAD=$lib gdb -nx -batch -ex 'print 6 * 7' >"$temp/out" 2>&1
    if grep -q '= 42' "$temp/out"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL gdb under the library"
    fi
else
    left_out "gdb cannot run a program here"
fi

if command -v valgrind >/dev/null; then
    fake valgrind --error-exitcode=9 -q "$work" >/dev/null 2>&1
    bare=$?
    case_of "valgrind" bash -c 'on valgrind --error-exitcode=9 -q "$work"; echo "status $?"'
    grep -q "^status $bare$" "$temp/out" || { failed=$((failed + 1)); echo "FAIL valgrind: not $bare"; cat "$temp/err"; }
else
    left_out "there is no valgrind"
fi

if strace -o /dev/null true 2>/dev/null; then
    case_of "strace" bash -c 'fake strace -f -o /dev/null -E LD_PRELOAD="$lib" "$work"'
else
    left_out "strace cannot run a program here"
fi

# ---- programs built with a sanitizer ----

# Their runtime must come first in LD_PRELOAD. ThreadSanitizer sees the locks of a library that was not built
# with it, but not its atomic operations, and must be told to leave it alone (docs/support.md).
printf 'called_from_lib:libvaremap.so\n' >"$temp/suppressions"
export TSAN_OPTIONS="suppressions=$temp/suppressions ${TSAN_OPTIONS:-}"
for kind in address thread; do
    program=$build/tests/progs/process_$kind
    runtime=$(ldd "$program" 2>/dev/null | sed -n 's/^[[:space:]]*lib[at]san\.so[^ ]* => \([^ ]*\).*/\1/p')
    if [ -z "$runtime" ]; then
        left_out "no program with a $kind sanitizer"
        continue
    fi
    if fake env LD_PRELOAD="$runtime:$lib" "$program" threads >"$temp/out" 2>"$temp/err" &&
        grep -q '^updates 400$' "$temp/out" && [ ! -s "$temp/err" ] &&
        grep -q '"updates_elided": 384' "$temp/stats"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL a program with a $kind sanitizer"
        cat "$temp/out" "$temp/err"
    fi
done

# ---- something is missing ----

case_of "closed standard error" bash -c 'on env VAREMAP_LOG=debug "$work" 2>&-'
case_of "closed standard streams, but output" bash -c 'on env VAREMAP_LOG=debug "$work" <&- 2>&-'
case_of "standard error is a pipe that nobody reads" \
    bash -c 'exec 3>&1; { on env VAREMAP_LOG=debug "$work" 2>&1 >&3; } | true'
case_of "no room for files" bash -c 'ulimit -n 12; on "$work"'

if unshare -m true 2>/dev/null; then
    case_of "no /proc" unshare -m bash -c 'mount -t tmpfs none /proc && on "$work"'
else
    left_out "no mount namespace can be made here, so there always is a /proc"
fi

# ---- setuid ----

# The loader takes no preload for such a program, so it is linked with the library. The environment of the
# user who starts it must count for nothing.
if [ "$(id -u)" = 0 ] && command -v setpriv gcc >/dev/null; then
    cp "$lib" "$build/fakevmm/libcuda.so.1" "$temp/"
    mkdir "$temp/open"
    chmod 777 "$temp/open"
    objects=$build/obj/tests/shim/progs/process.o
    gcc -o "$temp/program" "$objects" -Wl,--no-as-needed "$temp/libvaremap.so" "$temp/libcuda.so.1" \
        -Wl,-rpath,"$temp" -pthread 2>"$temp/err"
    setting=VAREMAP_STATS=$temp/open/stats
    status=0
    setpriv --reuid=65534 --clear-groups env "$setting" "$temp/program" threads >"$temp/out" 2>&1 || status=$?
    if [ $status = 0 ] && [ -f "$temp/open/stats" ]; then
        rm -f "$temp/open/stats"
        chmod u+s "$temp/program"
        setpriv --reuid=65534 --clear-groups env "$setting" VAREMAP_LOG=debug "$temp/program" threads \
            >"$temp/out" 2>&1 || status=$?
        if [ $status = 0 ] && [ ! -e "$temp/open/stats" ] && ! grep -q varemap "$temp/out"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL setuid"
            cat "$temp/out"
        fi
    else
        left_out "another user cannot run a program in $temp"
        cat "$temp/out" "$temp/err"
    fi
else
    left_out "only root can make a setuid program"
fi

echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
