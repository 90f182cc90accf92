/* The driver's linker, by the documentation of cuLinkCreate, cuLinkAddData and cuLinkComplete: PTX
 * texts are joined as relocatable device code is. */
#include "tests/fake/driver_fixture.h"

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)
#define PTX(text)     ".version 7.0\n.target sm_75\n.address_size 64\n" text

/* Calls a function and reads a variable that the other text has; `seed` and `$str` are its own. */
static const char caller[] =
    PTX("// a comment; with } and \" in it\n"
        ".extern .func (.param .b32 result) twice(.param .b32 x);\n"
        ".extern .global .align 4 .u32 offset;\n"
        ".global .align 4 .u32 seed = 5;\n"
        ".global .align 1 .b8 $str[4] = {1, 2, 3, 0};\n"
        ".weak .func (.param .b32 result) shared_inline(.param .b32 x) {\n"
        ".reg .b32 %r<2>; ld.param.b32 %r0, [x]; add.u32 %r1, %r0, 100;\n"
        "st.param.b32 [result], %r1; ret; }\n"
        ".visible .entry call(.param .u64 out) {\n"
        ".reg .b64 %p; .reg .b32 %r<6>; .param .b32 a; .param .b32 b;\n"
        "ld.param.u64 %p, [out]; ld.global.u32 %r0, [seed]; st.param.b32 [a], %r0;\n"
        "call (b), twice, (a); ld.param.b32 %r1, [b]; ld.global.u32 %r2, [offset];\n"
        "add.u32 %r3, %r1, %r2; st.param.b32 [a], %r3; call (b), shared_inline, (a);\n"
        "ld.param.b32 %r4, [b]; ld.global.u8 %r5, [$str]; add.u32 %r4, %r4, %r5;\n"
        "st.global.u32 [%p], %r4; ret; }\n");

static const char callee[] =
    PTX(".visible .global .align 4 .u32 offset = 30;\n"
        "/* text: its own seed */ .global .align 4 .u32 seed = 1000;\n"
        ".global .align 1 .b8 $str[4] = {9, 9, 9, 0};\n"
        ".weak .func (.param .b32 result) shared_inline(.param .b32 x) {\n"
        ".reg .b32 %r<2>; ld.param.b32 %r0, [x]; add.u32 %r1, %r0, 100;\n"
        "st.param.b32 [result], %r1; ret; }\n"
        ".visible .func (.param .b32 result) twice(.param .b32 x) {\n"
        ".reg .b32 %r<2>; ld.param.b32 %r0, [x]; shl.b32 %r1, %r0, 1;\n"
        "st.param.b32 [result], %r1; ret; }\n"
        ".visible .entry own(.param .u64 out) {\n"
        ".reg .b64 %p; .reg .b32 %r<3>;\n"
        "ld.param.u64 %p, [out]; ld.global.u32 %r0, [seed]; ld.global.u8 %r1, [$str];\n"
        "add.u32 %r2, %r0, %r1; st.global.u32 [%p], %r2; ret; }\n");

static CUlinkState new_link(void)
{
    CUlinkState link = NULL;

    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    return link;
}

static void add(CUlinkState link, const char *text)
{
    OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)text, strlen(text) + 1, "text", 0, NULL,
                        NULL));
}

static unsigned run(CUmodule module, const char *name)
{
    CUdeviceptr out = allocate(4);
    void *arguments[] = {&out};
    CUfunction function;
    unsigned value = 0;

    OK(cuModuleGetFunction(&function, module, name));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    OK(cuMemcpyDtoH_v2(&value, out, 4));
    OK(cuMemFree_v2(out));
    return value;
}

/* Both orders: a name may be used before its text comes. */
static void check_link(const char *first, const char *second)
{
    CUlinkState link = new_link();
    CUmodule module;
    size_t size = 0;
    void *image;

    add(link, first);
    add(link, second);
    OK(cuLinkComplete(link, &image, &size));
    T_GT(size, 0);
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(link));
    T_EQ(run(module, "call"), 2 * 5 + 30 + 100 + 1);
    T_EQ(run(module, "own"), 1000 + 9);
    OK(cuModuleUnload(module));
}

TEST(link_texts, functions_and_variables_of_each_other)
{
    start();
    check_link(caller, callee);
    check_link(callee, caller);
}

TEST(link_texts, one_text)
{
    CUmodule module;
    void *image;

    start();
    CUlinkState link = new_link();
    add(link, callee);
    OK(cuLinkComplete(link, &image, NULL));
    OK(cuModuleLoadData(&module, image));
    T_EQ(run(module, "own"), 1009);
    OK(cuLinkDestroy(link));
}

TEST(link_texts, files)
{
    char path[] = "/tmp/link_texts_XXXXXX";
    CUmodule module;
    void *image;
    int file = mkstemp(path);

    T_GE(file, 0);
    T_EQ(write(file, callee, sizeof callee - 1), (ssize_t)sizeof callee - 1);
    close(file);
    start();
    CUlinkState link = new_link();
    add(link, caller);
    OK(cuLinkAddFile_v2(link, CU_JIT_INPUT_PTX, path, 0, NULL, NULL));
    T_EQ(cuLinkAddFile_v2(link, CU_JIT_INPUT_PTX, "/nonexistent", 0, NULL, NULL),
         CUDA_ERROR_FILE_NOT_FOUND);
    OK(cuLinkComplete(link, &image, NULL));
    OK(cuModuleLoadData(&module, image));
    T_EQ(run(module, "call"), 141);
    OK(cuLinkDestroy(link));
    unlink(path);
}

/* Nothing behind the size that was given is read: sanitizers see it. */
TEST(link_texts, data_has_a_size)
{
    unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0, 2, 0, 0, 0, 0, 0, 0};
    size_t length = sizeof callee - 1;
    char *exact = malloc(length);
    CUmodule module;
    void *image;

    T_ASSERT(exact);
    memcpy(exact, callee, length);
    start();
    CUlinkState link = new_link();
    add(link, caller);
    OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, exact, length, NULL, 0, NULL, NULL));
    free(exact);
    for (size_t size = 4; size <= sizeof fatbin; size++)
        T_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_FATBINARY, fatbin, size, NULL, 0, NULL, NULL),
             CUDA_ERROR_INVALID_IMAGE);
    OK(cuLinkComplete(link, &image, NULL));
    OK(cuModuleLoadData(&module, image));
    T_EQ(run(module, "call"), 141);
    OK(cuLinkDestroy(link));
}

TEST(link_texts, errors)
{
    static char log[256];
    CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[2] = {log, (void *)sizeof log};
    char wrong[] = PTX(".visible .entry broken() { not an opcode }");
    CUlinkState link;
    void *image;

    OK(cuInit(0));
    T_EQ(cuLinkCreate_v2(0, NULL, NULL, &link), CUDA_ERROR_INVALID_CONTEXT);
    start();
    REFUSED(cuLinkCreate_v2(0, NULL, NULL, NULL));
    REFUSED(cuLinkCreate_v2(2, NULL, values, &link));
    OK(cuLinkCreate_v2(2, options, values, &link));
    T_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, wrong, sizeof wrong, NULL, 0, NULL, NULL),
         CUDA_ERROR_INVALID_PTX);
    T_GT(strlen(log), 0);
    REFUSED(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, NULL, 1, NULL, 0, NULL, NULL));
    REFUSED(cuLinkAddData_v2(link, (CUjitInputType)17, wrong, sizeof wrong, NULL, 0, NULL, NULL));
    /* Options of the whole link are none of an input. */
    REFUSED(
        cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, wrong, sizeof wrong, NULL, 1, options, values));
    add(link, callee);
    add(link, callee); /* its kernel is there twice */
    T_NE(cuLinkComplete(link, &image, NULL), CUDA_SUCCESS);
    OK(cuLinkDestroy(link));
    T_EQ(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuLinkComplete(link, &image, NULL), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuLinkAddFile_v2(link, CU_JIT_INPUT_PTX, "x", 0, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
}

TEST(link_texts, first_versions)
{
    CUlinkState link;
    void *image;

    start();
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, NULL, 0, NULL, NULL));
    T_EQ(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/nonexistent", 0, NULL, NULL),
         CUDA_ERROR_FILE_NOT_FOUND);
    OK(cuLinkComplete(link, &image, NULL));
    OK(cuLinkDestroy(link));
}
