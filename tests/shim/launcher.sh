#!/usr/bin/env bash
# scripts/varemap: puts the library first and keeps what else is preloaded; status tells a process that has
# the library from one that lost it; bugreport holds what it should and nothing else of the environment.
set -u
root=${VR_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
build=$(realpath "${VR_BUILD:-$root/build}")
lib=$build/libvaremap.so
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
passed=0
failed=0
unset VAREMAP VAREMAP_STATS VAREMAP_LOG VAREMAP_REPORT LD_PRELOAD

if readelf -d "$lib" | grep -Eq 'NEEDED.*lib(a|t|ub)san'; then
    echo "skipped: a sanitizer's runtime must come first in LD_PRELOAD"
    exit 77
fi

verdict() { # NAME CONDITION...
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        cat "$temp/out" "$temp/err"
    fi
}

varemap() { "$root/scripts/varemap" --lib "$lib" "$@" >"$temp/out" 2>"$temp/err"; }
says() { varemap "${@:2}" && grep -qxF -- "$1" "$temp/out"; }
ends_with() { # STATUS ARGUMENT...
    varemap "${@:2}"
    [ $? = "$1" ]
}
refuses() { # STATUS TEXT ARGUMENT...
    ends_with "$1" "${@:3}" && grep -qF -- "$2" "$temp/err" && [ ! -s "$temp/out" ]
}

preload='echo $LD_PRELOAD'
verdict "the library is preloaded" says "$lib" sh -c "$preload"
other() { LD_PRELOAD=$build/tests/libs/tracer.so says "$lib:$build/tests/libs/tracer.so" sh -c "$preload"; }
verdict "after it what was preloaded already" other
verdict "arguments arrive as they are" says "<a b><*><><-->" printf '<%s>' "a b" '*' '' --

verdict "the program's exit status" ends_with 7 sh -c 'exit 7'
verdict "--observe" says observe --observe sh -c 'echo $VAREMAP'
verdict "--off" says off --off sh -c 'echo $VAREMAP'
verdict "--log" says debug --log debug sh -c 'echo $VAREMAP_LOG'
verdict "--stats and --report" says "f 1" --stats f --report -- sh -c 'echo $VAREMAP_STATS $VAREMAP_REPORT'
verdict "no option, no variable" says "" sh -c 'echo $VAREMAP$VAREMAP_STATS$VAREMAP_LOG$VAREMAP_REPORT'

verdict "an unknown option" refuses 2 "--nonsense: unknown option" --nonsense true
verdict "an option without its value" refuses 2 "--stats takes a value" --stats
verdict "no program" refuses 2 "no program"
verdict "a program that is not there" refuses 127 "not found" "$temp/nothing"
verdict "a library that is not there" refuses 1 "no such file" --lib "$temp/nothing.so" true
mkdir "$temp/a blank"
cp "$lib" "$temp/a blank/libvaremap.so"
verdict "a path that LD_PRELOAD cannot hold" refuses 1 "blank or a colon" --lib "$temp/a blank/libvaremap.so" true
verdict "status of no process id" refuses 2 "no process id" status x

version=$(sed -n 's/#define VR_VERSION "\(.*\)"/\1/p' "$root/core/version.h")
verdict "the version" says "varemap $version" --version
verdict "status: a library that loads" says "loads: yes" status
broken() {
    echo "not a library" >"$temp/libvaremap.so"
    ends_with 1 --lib "$temp/libvaremap.so" status && grep -q "loads: no: " "$temp/out"
}
verdict "status: a library that does not load" broken

# Ends by itself if this test is killed.
mapped() { # STATUS LAST-LINE COMMAND...: of a process that runs
    "${@:3}" &
    local pid=$!
    for _ in $(seq 100); do
        grep -q sleep "/proc/$pid/comm" && break
        sleep 0.05
    done
    ends_with "$1" status $pid && [ "$(tail -n 1 "$temp/out")" = "process $pid: libvaremap.so is $2" ]
    local result=$?
    kill $pid
    wait $pid 2>/dev/null
    return $result
}
verdict "status: a process with it" mapped 0 mapped "$root/scripts/varemap" --lib "$lib" sleep 60
verdict "status: a process without it" mapped 1 "not mapped" sleep 60
verdict "status: a child that was given another LD_PRELOAD" mapped 1 "not mapped" \
    "$root/scripts/varemap" --lib "$lib" env LD_PRELOAD= sleep 60
verdict "status: no such process" ends_with 1 status 999999999

report() {
    VAREMAP=observe CUDA_VISIBLE_DEVICES=0 SECRET_TOKEN=hidden LD_DEBUG_OUTPUT="" varemap bugreport || return 1
    for line in "library: $lib" "version: $version" "  VAREMAP=observe" "  CUDA_VISIBLE_DEVICES=0"; do
        grep -qxF -- "$line" "$temp/out" || return 1
    done
    grep -q '^kernel: Linux' "$temp/out" && grep -Eq '^(driver: |NVRM version)' "$temp/out" &&
        ! grep -q 'SECRET\|hidden' "$temp/out"
}
verdict "bugreport" report

echo "$passed passed, $failed failed"
[ $failed = 0 ]
