/* driver.c: a main for fuzz targets where there is no libFuzzer: each file of the corpus, and a
 * fixed number of mutations of it from a fixed seed.
 *
 *   TARGET MUTATIONS FILE...
 *
 * The input that ends the program is left in the file that FUZZ_LAST names. */
#include "tests/fuzz/fuzz.h"

#define LONGEST 65536

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static size_t below(size_t limit)
{
    return limit ? next_random() % limit : 0;
}

/* Changes a byte, a bit or a word, removes or repeats a piece, or cuts the end off. */
static size_t mutate(uint8_t *data, size_t size)
{
    static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xffff, 0x10000};
    size_t at = below(size), length = below(size - at) % 64;

    if (!size)
        return 0;
    switch (below(6)) {
    case 0: data[at] = (uint8_t)next_random(); break;
    case 1: data[at] ^= (uint8_t)(1u << below(8)); break;
    case 2:
        if (at + 4 <= size)
            memcpy(data + at, &words[below(sizeof words / sizeof *words)], 4);
        break;
    case 3: memmove(data + at, data + at + length, size - at - length); return size - length;
    case 4:
        if (size + length > LONGEST)
            break;
        memmove(data + at + length, data + at, size - at);
        return size + length;
    case 5: return below(8) ? size : at;
    }
    return size;
}

static void try_it(const uint8_t *data, size_t size)
{
    const char *last = getenv("FUZZ_LAST");
    uint8_t *exact = malloc(size ? size : 1);
    FILE *file;

    FUZZ_CHECK(exact);
    memcpy(exact, data, size);
    if (last && (file = fopen(last, "wb"))) {
        fwrite(data, 1, size, file);
        fclose(file);
    }
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

int main(int argc, char **argv)
{
    static uint8_t original[LONGEST], data[LONGEST];
    long mutations = argc > 1 ? atol(argv[1]) : 0, tried = 0;

    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        size_t size;

        FUZZ_CHECK(file);
        size = fread(original, 1, sizeof original, file);
        fclose(file);
        try_it(original, size);
        for (long n = 0; n < mutations; n++, tried++) {
            size_t now = size;

            memcpy(data, original, size);
            for (size_t changes = 1 + below(4); changes; changes--)
                now = mutate(data, now);
            try_it(data, now);
        }
    }
    printf("%d files, %ld mutations\n", argc - 2, tried);
    return argc > 2 ? 0 : 1;
}
