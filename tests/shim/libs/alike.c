/* alike.c: functions whose names begin as the driver's do. */
#define EXPORT __attribute__((visibility("default")))

EXPORT int cudnnCreate(void);
EXPORT int curl_easy_init(void);
EXPORT int cublasCreate_v2(void);
EXPORT int cuThing(void);

int cudnnCreate(void)
{
    return 1;
}

int curl_easy_init(void)
{
    return 2;
}

int cublasCreate_v2(void)
{
    return 3;
}

int cuThing(void)
{
    return 4;
}
