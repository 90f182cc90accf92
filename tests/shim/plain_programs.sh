#!/usr/bin/env bash
# Preloaded into programs that do not use CUDA, the library must not be noticed: the same output and exit
# code, no file opened but itself, no thread, no heap block.
set -u
lib=$(realpath "${VR_BUILD:-build}/libvaremap.so")
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
passed=0
failed=0

if readelf -d "$lib" | grep -Eq 'NEEDED.*lib(a|t|ub)san'; then
    echo "skipped: a sanitizer's runtime is noticed by every program"
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
    fi
}

same_behaviour() { # COMMAND...
    "$@" >"$temp/out.bare" 2>"$temp/err.bare"
    local bare=$?
    LD_PRELOAD=$lib "$@" >"$temp/out.with" 2>"$temp/err.with"
    [ $? = $bare ] && cmp -s "$temp/out.bare" "$temp/out.with" && cmp -s "$temp/err.bare" "$temp/err.with"
}

# Files opened and threads made, without the loader's own business with the library.
system_calls() { # OUTPUT ENVIRONMENT COMMAND...
    local output=$1 environment=$2
    shift 2
    strace -f -qq -e trace=open,openat,openat2,clone,clone3 -E "$environment" -o "$output.raw" "$@" \
        >/dev/null 2>&1
    sed -E 's/^[0-9]+ +//; s/0x[0-9a-f]+/ADDRESS/g; s/= [0-9]+$/= N/; s/=[0-9]+/=N/g' "$output.raw" |
        grep -vF "$lib" | sort >"$output"
}

same_system_calls() { # COMMAND...
    system_calls "$temp/calls.bare" "LD_PRELOAD=" "$@"
    system_calls "$temp/calls.with" "LD_PRELOAD=$lib" "$@"
    [ -s "$temp/calls.bare" ] && diff "$temp/calls.bare" "$temp/calls.with"
}

heap_blocks() { # PRELOAD COMMAND...
    local preload=$1
    shift
    LD_PRELOAD=$preload valgrind --tool=memcheck --trace-children=no --log-file="$temp/heap" "$@" >/dev/null 2>&1
    sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p' "$temp/heap"
}

same_heap() { # COMMAND...
    local bare with
    bare=$(heap_blocks "" "$@")
    with=$(heap_blocks "$lib" "$@")
    [ -n "$bare" ] && [ "$bare" = "$with" ]
}

python=$(python3 -c 'import sys; print(sys.executable)')
verdict "bash -c true: behaviour" same_behaviour bash -c true
verdict "bash -c 'exit 7': behaviour" same_behaviour bash -c 'echo out; echo err >&2; exit 7'
verdict "ls: behaviour" same_behaviour ls -l /usr/share
verdict "ls of nothing: behaviour" same_behaviour ls /nonexistent
verdict "python3 -c pass: behaviour" same_behaviour "$python" -c pass
verdict "perl: behaviour" same_behaviour perl -e 'print "x\n"; exit 3'
verdict "bash with LD_BIND_NOW: behaviour" same_behaviour env LD_BIND_NOW=1 bash -c 'echo x'
verdict "bash: files and threads" same_system_calls bash -c true
verdict "ls: files and threads" same_system_calls ls /
verdict "python3: files and threads" same_system_calls "$python" -c pass
verdict "bash: heap blocks" same_heap bash -c true
verdict "ls: heap blocks" same_heap ls /

echo "$passed passed, $failed failed"
[ $failed = 0 ]
