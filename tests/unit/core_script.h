/* core_script.h: a program of allocations and frees, the same for the same seed, for tests that run
 * it under faults, or twice and compare. */
#ifndef CORE_SCRIPT_H
#define CORE_SCRIPT_H

#include "tests/unit/core_app.h"

struct script {
    unsigned seed;
    int steps;
    bool captures;       /* now and then one lives */
    bool whole_granules; /* no other sizes */
    bool contexts;       /* allocations in two of them */
};

/* What the nth allocation got, for a comparison; NULL: not wanted. */
typedef void script_note(int nth, uint64_t bytes, uint64_t address);

static inline uint64_t script_size(const struct script *script, unsigned choice)
{
    static const uint64_t sizes[] = {2 * MIB, 4 * MIB, 6 * MIB, 3 * MIB, MIB, 512, 4, 200 * KIB};

    return sizes[choice % (script->whole_granules ? 3 : 8)];
}

static inline void script_moods(const struct script *script, unsigned *seed)
{
    static const enum vr_capture captures[] = {VR_CAPTURE_NONE, VR_CAPTURE_NONE, VR_CAPTURE_NONE,
                                               VR_CAPTURE_PERMITS, VR_CAPTURE_FORBIDS};
    unsigned choice = (unsigned)rand_r(seed);

    if (script->captures && choice % 4 == 0)
        app.capture = captures[choice / 4 % 5];
    if (script->contexts)
        app.context = choice & 1024 ? APP_OTHER : APP_CONTEXT;
    device.drain_result = app.capture == VR_CAPTURE_FORBIDS ? 906 : 0;
}

/* Sizes are learnt on the way, frees come in any order; what could not be freed stays. */
static inline void script_run(const struct script *script, script_note *note)
{
    unsigned seed = script->seed;
    int nth = 0;

    for (int step = 0; step < script->steps; step++) {
        unsigned choice = (unsigned)rand_r(&seed);
        uint64_t bytes = script_size(script, choice / 8), address;
        script_moods(script, &seed);
        if (step % 16 == 5)
            app_take(bytes);
        if (choice % 8 < 4 && app.count < 24) {
            address = app_alloc(bytes);
            if (note)
                note(nth, bytes, address);
            nth++;
        } else if (app.count) {
            app_free(app.live[choice / 64 % (unsigned)app.count].address);
        }
    }
    app.capture = VR_CAPTURE_NONE;
    device.drain_result = 0;
}

#endif
