/* device_printf: kernels that print. What they print is caught on its way to the standard output
 * and compared with what printf of the CPU makes of the same formats; then it is passed on. */
#include "tests/apps/cuda_app.h"
#include <unistd.h>

static const unsigned threads = 48, text_bytes = 16384;

__global__ void print_formats(int i, double d, const char *word_on_device)
{
    int answer = printf("int %d %5d %-5d| %05d %+d %x %#X %o %u %c\n", i, i, i, i, i, i, i, i, i,
                        'A' + i % 26);

    printf("the call answered %d\n", answer);
    printf("long %lld %llu %llx short %hd\n", (long long)i << 33, (unsigned long long)i << 40,
           -(long long)i, (short)i);
    printf("double %f %.3f %12.4e %g %G %a\n", d, d, d, d, d * 1e20, d);
    printf("float %f %.2f\n", (float)d, (float)d);
    printf("string %s, [%8s] [%-8s] [%.2s] from memory %s\n", "literal", "right", "left", "cut",
           word_on_device);
    printf("no arguments, a percent sign: %%\n");
    printf("width %*d precision %.*f\n", 7, i, 2, d);
}

/* In no particular order among the threads; of one thread in its order. */
__global__ void print_threads(void)
{
    printf("thread %u of block %u first\n", threadIdx.x, blockIdx.x);
    if (threadIdx.x % 16 == 3)
        printf("thread %u of block %u again\n", threadIdx.x, blockIdx.x);
}

static void expect_formats(FILE *out, int i, double d, const char *word)
{
    fprintf(out, "int %d %5d %-5d| %05d %+d %x %#X %o %u %c\n", i, i, i, i, i, i, i, i, i,
            'A' + i % 26);
    fprintf(out, "the call answered %d\n", 10);
    fprintf(out, "long %lld %llu %llx short %hd\n", (long long)i << 33, (unsigned long long)i << 40,
            -(long long)i, (short)i);
    fprintf(out, "double %f %.3f %12.4e %g %G %a\n", d, d, d, d, d * 1e20, d);
    fprintf(out, "float %f %.2f\n", (double)(float)d, (double)(float)d);
    fprintf(out, "string %s, [%8s] [%-8s] [%.2s] from memory %s\n", "literal", "right", "left",
            "cut", word);
    fprintf(out, "no arguments, a percent sign: %%\n");
    fprintf(out, "width %*d precision %.*f\n", 7, i, 2, d);
}

/* The standard output goes to a file until the device has finished what was launched. */
struct caught {
    FILE *file;
    int standard_output;
};

static caught begin_catch(void)
{
    caught c = {tmpfile(), dup(STDOUT_FILENO)};

    if (!c.file || c.standard_output < 0 || fflush(stdout) ||
        dup2(fileno(c.file), STDOUT_FILENO) < 0)
        app_fail("tmpfile", strerror(errno));
    return c;
}

static void end_catch(caught *c, char text[text_bytes])
{
    CALL(cudaDeviceSynchronize());
    fflush(stdout);
    dup2(c->standard_output, STDOUT_FILENO);
    close(c->standard_output);
    rewind(c->file);
    text[fread(text, 1, text_bytes - 1, c->file)] = '\0';
    fclose(c->file);
}

static void check_formats(int i, double d, uint64_t *checksum)
{
    static char got[text_bytes], want[text_bytes];
    const char word[] = "words";
    FILE *out = fmemopen(want, sizeof want, "w");
    char *device_word = to_device(word, sizeof word);

    expect_formats(out, i, d, word);
    fclose(out);
    caught c = begin_catch();
    print_formats<<<1, 1>>>(i, d, device_word);
    CALL_KERNEL("print_formats");
    end_catch(&c, got);
    fputs(got, stdout);
    if (strcmp(got, want)) {
        fprintf(stderr, "device_printf: expected:\n%s", want);
        exit(1);
    }
    *checksum = app_checksum(*checksum, got, strlen(got));
    CALL(cudaFree(device_word));
}

/* Marks the lines seen; a thread's second line must come after its first. */
static void check_threads(void)
{
    static char got[text_bytes];
    unsigned seen[2][threads] = {}, lines = 0;
    caught c = begin_catch();

    print_threads<<<2, threads>>>();
    CALL_KERNEL("print_threads");
    end_catch(&c, got);
    for (char *line = strtok(got, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        unsigned t, b;
        char word[16];
        if (sscanf(line, "thread %u of block %u %15s", &t, &b, word) != 3 || t >= threads || b > 1)
            app_fail("print_threads", line);
        expect_same("lines before this one", seen[b][t], strcmp(word, "again") ? 0u : 1u);
        seen[b][t]++;
    }
    expect_same("lines", lines, 2 * threads + 2 * threads / 16);
}

int main(int argc, char **argv)
{
    app_options options = {};
    size_t fifo;

    options.steps = 2;
    options.seed = 1;
    app_parse(argc, argv, "kernels that print", &options);
    CALL(cudaDeviceGetLimit(&fifo, cudaLimitPrintfFifoSize));
    CALL(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    for (uint64_t step = 0; step < options.steps; step++) {
        int i = (int)(app_random(&random) % 20000) - 9999;
        check_formats(abs(i), i / 7.0, &checksum);
        check_threads();
    }
    return cuda_finish(checksum);
}
