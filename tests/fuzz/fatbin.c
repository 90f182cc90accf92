/* fatbin.c: fuzzes the reader of fatbin containers and, with what it finds, of PTX. An image
 * carries its own sizes and must be readable for as long as they say: the input is followed by
 * zeros, as much as its headers claim up to a megabyte, and what claims more is passed over. */
#include "fakevmm/ptx/ptx.h"
#include "tests/fuzz/fuzz.h"

#define HEADER 16
#define ROOM   (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char message[128], *text = NULL;
    size_t length = 0;
    uint64_t claimed = 0;
    uint8_t *image;

    if (size < HEADER)
        return 0;
    memcpy(&claimed, data + 8, sizeof claimed); /* of the container behind its header */
    if (size > ROOM / 2 || claimed > ROOM / 2 || memcmp(data, "\x50\xed\x55\xba", 4))
        return 0;
    image = calloc(1, HEADER + (claimed > size ? claimed : size));
    FUZZ_CHECK(image);
    memcpy(image, data, size);
    if (ptx_extract(image, 100, &text, &length, message, sizeof message) == PTX_IMAGE_TEXT) {
        struct ptx_module *module = ptx_load(text, length, message, sizeof message);

        FUZZ_CHECK(strlen(text) <= length);
        if (module)
            ptx_unload(module);
        free(text);
    }
    free(image);
    return 0;
}
