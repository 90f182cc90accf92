/* FAKEVMM_LEAKS=1 tells every kind of thing that a program can leave behind. */
#include "tests/fake/driver_fixture.h"

static const CUmemPoolProps pool_props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static struct left {
    CUarray array;
    CUmipmappedArray mipmap;
    CUmemoryPool pool;
    CUuserObject object;
    CUlinkState link;
    CUdeviceptr managed, ordered;
} left;

static void nothing(void *unused)
{
}

static void make(void)
{
    CUDA_ARRAY_DESCRIPTOR flat = {16, 16, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUDA_ARRAY3D_DESCRIPTOR deep = {16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};

    start();
    OK(cuArrayCreate_v2(&left.array, &flat));
    OK(cuMipmappedArrayCreate(&left.mipmap, &deep, 2));
    OK(cuMemPoolCreate(&left.pool, &pool_props));
    OK(cuUserObjectCreate(&left.object, NULL, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuLinkCreate_v2(0, NULL, NULL, &left.link));
    OK(cuMemAllocManaged(&left.managed, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocAsync(&left.ordered, 64, NULL));
    OK(cuCtxSynchronize());
}

static void take_back(void)
{
    make();
    OK(cuArrayDestroy(left.array));
    OK(cuMipmappedArrayDestroy(left.mipmap));
    OK(cuMemPoolDestroy(left.pool));
    OK(cuUserObjectRelease(left.object, 1));
    OK(cuLinkDestroy(left.link));
    OK(cuMemFree_v2(left.managed));
    OK(cuMemFreeAsync(left.ordered, NULL));
    OK(cuCtxSynchronize());
}

TEST(leak_kinds, what_is_left)
{
    static const char *const lines[] = {"leak array 1\n", "leak mipmap 1\n",
                                        "leak pool 1\n",  "leak user_object 1\n",
                                        "leak link 1\n",  "leak allocation 2\n"};
    struct child child;

    setenv("FAKEVMM_LEAKS", "1", 1);
    child = in_child(make);
    T_EQ(child.exit_code, 0);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        T_STR_HAS(child.err, lines[i]);
}

TEST(leak_kinds, what_was_taken_back)
{
    struct child child;

    setenv("FAKEVMM_LEAKS", "1", 1);
    child = in_child(take_back);
    T_EQ(child.exit_code, 0);
    T_STR_EQ(child.err, "leak context 1\n");
}
