#!/usr/bin/env bash
# What callers of dlsym may rely on (tests/dlsym/program.c): alone, under the library, under the library with
# another dlsym after it. VR_RUNNER: a command that runs programs of another
# architecture and takes -E NAME=VALUE, such as "qemu-aarch64 -L /usr/aarch64-linux-gnu".
set -u
build=$(realpath "${VR_BUILD:-build}")
libs=$build/tests/dlsym
read -ra runner <<<"${VR_RUNNER:-}"
passed=0
failed=0

if [ -n "${VR_SAN_RUNTIME:-}" ]; then
    echo "skipped: a sanitizer's runtime overrides dlsym itself"
    exit 77
fi

# program TEST SETTING...: runs the tests whose name has TEST in it, on this machine or under the runner.
program() {
    local test=$1 setting passed_on=()
    shift
    if [ "${#runner[@]}" -gt 0 ]; then
        for setting in "$@"; do
            passed_on+=(-E "$setting")
        done
        "${runner[@]}" "${passed_on[@]}" "$libs/program" "$test" 2>&1
    else
        env "$@" "$libs/program" "$test" 2>&1
    fi
}

verdict() { # NAME STATUS OUTPUT
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1"
        echo "$3"
    fi
}

# way NAME PRELOAD [SETTING]...: every test passes.
way() {
    local name=$1 settings=("VR_LIBS=$libs" "LD_LIBRARY_PATH=$libs") output
    [ -z "$2" ] || settings+=("LD_PRELOAD=$2")
    shift 2
    output=$(program "" "${settings[@]}" "$@") && grep -qE '^[1-9][0-9]* passed, 0 failed$' <<<"$output"
    verdict "$name" $? "$output"
}

# notices TEST COUNT: so often the log says, in that test, that the library was passed by.
notices() {
    local output count
    output=$(program "$1" "VR_LIBS=$libs" "LD_LIBRARY_PATH=$libs" "LD_PRELOAD=$build/libvaremap.so" VR_OURS=1 \
        VAREMAP_LOG=warn)
    count=$(grep -c 'from now on everything is forwarded' <<<"$output")
    [ "$count" = "$2" ] && grep -q '^1 passed, 0 failed$' <<<"$output"
    verdict "$1 noticed $2 times" $? "$output"
}

way "alone" ""
way "under the library" "$build/libvaremap.so" VR_OURS=1
way "observed" "$build/libvaremap.so" VR_OURS=1 VAREMAP=observe
way "switched off, names reach the driver" "$build/libvaremap.so" VAREMAP=off VR_OFF=1
way "another dlsym behind it" "$build/libvaremap.so:$libs/libbehind.so" VR_OURS=1 VR_BEHIND=1
way "bound at once" "$build/libvaremap.so" VR_OURS=1 LD_BIND_NOW=1
notices a_driver_name_from_the_program 0
notices a_driver_name_from_a_library 1

echo "$passed passed, $failed failed"
[ $failed = 0 ]
