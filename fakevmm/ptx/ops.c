/* ops.c: finds the rows of ops.def by name. */
#include "ops.h"

#include <pthread.h>
#include <string.h>

struct row {
    const char *name;
    unsigned operands; /* 0: a micro instruction, not to be found by name */
};

static const struct row rows[] = {
#define OP(name, operands, ...) {#name, operands},
#define MICRO(name, ...)        {#name, 0},
#include "ops.def"
};

enum { BUCKETS = 2048 };
_Static_assert(PTX_OP_COUNT < BUCKETS / 2, "the table of names would get slow");

static uint16_t buckets[BUCKETS]; /* number of a row plus one; written once */
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static unsigned hash(const char *name)
{
    unsigned h = 2166136261u;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return (h ^ h >> 15) % BUCKETS;
}

static void fill(void)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++) {
        unsigned at = hash(rows[i].name);
        while (buckets[at])
            at = (at + 1) % BUCKETS;
        buckets[at] = (uint16_t)(i + 1);
    }
}

int ptx_find_op(const char *name, unsigned *operands)
{
    pthread_once(&filled, fill);
    for (unsigned at = hash(name); buckets[at]; at = (at + 1) % BUCKETS) {
        const struct row *row = &rows[buckets[at] - 1];
        if (row->operands && strcmp(row->name, name) == 0) {
            *operands = row->operands;
            return buckets[at] - 1;
        }
    }
    return -1;
}

bool ptx_known_mnemonic(struct ptx_text mnemonic)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++) {
        if (rows[i].operands && strncmp(rows[i].name, mnemonic.at, mnemonic.length) == 0 &&
            rows[i].name[mnemonic.length] == '_')
            return true;
    }
    return false;
}
