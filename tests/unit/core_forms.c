/* core_forms.c: the forms in which parameters may be given (CUDA driver API, cuLaunchKernel): one
 * pointer each, or packed in a buffer; which bytes count, and what can never be equal. */
#include "tests/unit/core_setters.h"

TEST(forms, packed_form)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);
    uint64_t packed[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct vr_update *update = &f->setter.update;

    memcpy(packed, f->setter.value, sizeof f->setter.value);
    update->params = NULL;
    update->packed = packed;
    update->packed_bytes = 64;
    fixture_changed(f, "the form, with equal values,");
    packed[7]++;
    fixture_changed(f, "a packed value");
    update->packed_bytes = 72;
    fixture_changed(f, "the packed size");
    packed[8]++;
    T_ASSERT(fixture_send(f), "bytes behind the last parameter are not parameters");
    update->packed_bytes = 56;
    T_ASSERT(!fixture_send(f) && !fixture_send(f),
             "a buffer that does not cover the parameters is never equal");
    T_GE(world_totals(f->state).refusal[VR_REFUSAL_malformed], 1);
    world_end(f->state);
}

TEST(forms, padding_is_not_compared)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);
    unsigned char packed[32] = {0};
    static const int padding[] = {4, 5, 6, 7, 29, 30, 31};

    f->setter.update.code.handle = CODE_MIXED;
    f->setter.update.params = NULL;
    f->setter.update.packed = packed;
    f->setter.update.packed_bytes = sizeof packed;
    fixture_changed(f, "the code");
    for (size_t i = 0; i < sizeof padding / sizeof padding[0]; i++) {
        packed[padding[i]] ^= 0xff;
        T_ASSERT(fixture_send(f), "padding at %d", padding[i]);
    }
    for (int i = 0; i < 4; i++) {
        packed[mixed_params[i].offset + mixed_params[i].bytes - 1] ^= 1;
        fixture_changed(f, "the last byte of a parameter");
    }
    world_end(f->state);
}

TEST(forms, odd_sizes_through_pointers)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);
    uint32_t four = 1;
    uint64_t eight = 2;
    unsigned char twelve[12] = {3}, one = 4;
    void *params[] = {&four, &eight, twelve, &one};

    f->setter.update.code.handle = CODE_MIXED;
    f->setter.update.params = params;
    fixture_changed(f, "the code");
    four++;
    fixture_changed(f, "four bytes");
    eight ^= 1ull << 63;
    fixture_changed(f, "eight bytes");
    twelve[11]++;
    fixture_changed(f, "the last of twelve bytes");
    one++;
    fixture_changed(f, "one byte");
    world_end(f->state);
}

TEST(forms, kernel_without_parameters)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.update.code.handle = CODE_NONE;
    f->setter.update.params = NULL;
    fixture_changed(f, "the code");
    T_EQ(world_totals(f->state).refusal[VR_REFUSAL_malformed], 0);
    world_end(f->state);
}

TEST(forms, parameters_missing_are_never_equal)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.update.params = NULL;
    T_ASSERT(!fixture_send(f) && !fixture_send(f), "both forms NULL for a kernel with parameters");
    f->setter.update.params = f->setter.pointer;
    T_ASSERT(!fixture_send(f), "what the driver holds is not known");
    T_ASSERT(fixture_send(f));
    f->setter.pointer[7] = NULL;
    T_ASSERT(!fixture_send(f) && !fixture_send(f), "a NULL entry");
    world_end(f->state);
}

TEST(forms, both_forms_at_once_are_never_equal)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.update.packed = f->setter.value;
    f->setter.update.packed_bytes = 64;
    T_ASSERT(!fixture_send(f) && !fixture_send(f));
    world_end(f->state);
}

TEST(forms, malformed_is_forwarded_and_forgets_the_node)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.update.malformed = true;
    T_ASSERT(!fixture_send(f) && !fixture_send(f));
    f->setter.update.malformed = false;
    fixture_changed(f, "what the malformed setter left");
    T_EQ(world_totals(f->state).refusal[VR_REFUSAL_malformed], 2);
    world_end(f->state);
}

TEST(forms, record_is_a_copy)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);
    uint64_t *block = malloc(sizeof f->setter.value);
    void *params[8];

    memcpy(block, f->setter.value, sizeof f->setter.value);
    block[3] = 99;
    for (int i = 0; i < 8; i++)
        params[i] = &block[i];
    f->setter.update.params = params;
    T_ASSERT(!fixture_send(f));
    memset(block, 0xaa, sizeof f->setter.value);
    free(block);
    f->setter.update.params = f->setter.pointer;
    f->setter.value[3] = 99;
    T_ASSERT(fixture_send(f));
    world_end(f->state);
}

TEST(forms, records_grow_and_shrink_with_the_kernel)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    for (int i = 0; i < 3; i++) {
        f->setter.update.code.handle = CODE_NONE;
        f->setter.update.params = NULL;
        fixture_changed(f, "the code");
        f->setter.update.code.handle = CODE_EIGHT;
        f->setter.update.params = f->setter.pointer;
        fixture_changed(f, "the code");
    }
    world_end(f->state);
}

TEST(forms, words_with_gaps_between)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);
    uint64_t packed[3] = {1, 2, 3};

    f->setter.update.code.handle = CODE_GAPS;
    fixture_changed(f, "the code");
    f->setter.value[1]++;
    fixture_changed(f, "the second word");
    f->setter.update.params = NULL;
    f->setter.update.packed = packed;
    f->setter.update.packed_bytes = sizeof packed;
    fixture_changed(f, "the form");
    packed[1]++;
    T_ASSERT(fixture_send(f), "the gap");
    packed[2]++;
    fixture_changed(f, "the second word");
    world_end(f->state);
}

TEST(forms, null_among_odd_sizes)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);
    uint64_t values[4] = {0};
    void *params[] = {&values[0], &values[1], &values[2], &values[0]};

    f->setter.update.code.handle = CODE_MIXED;
    f->setter.update.params = params;
    fixture_changed(f, "the code");
    for (int i = 0; i < 4; i++) {
        void *kept = params[i];
        params[i] = NULL;
        T_ASSERT(!fixture_send(f) && !fixture_send(f), "entry %d", i);
        params[i] = kept;
        fixture_changed(f, "what the driver holds");
    }
    world_end(f->state);
}
