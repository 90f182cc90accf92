/* card.c: looks up the GPUs of cards.def. It must not know which one is played. */
#include "card.h"

#include <string.h>

#define KIB(n)                 ((n)*1024)
#define MIB(n)                 (KIB(n) * 1024)
#define GIB(n)                 ((size_t)MIB(n) * 1024)
#define ATTRIBUTE(name, value) {CU_DEVICE_ATTRIBUTE_##name, value},

#define CARD(name, title, memory, granularity, own)                                                \
    static const struct fv_card_attribute name##_attributes[] = {own};
#include "cards.def"
#undef CARD

static const struct fv_card cards[] = {
#define CARD(name, title, memory, granularity, own)                                                \
    {#name,                                                                                        \
     title,                                                                                        \
     memory,                                                                                       \
     granularity,                                                                                  \
     name##_attributes,                                                                            \
     sizeof name##_attributes / sizeof name##_attributes[0]},
#include "cards.def"
#undef CARD
};

const struct fv_card *fv_card_at(size_t index)
{
    return index < sizeof cards / sizeof cards[0] ? &cards[index] : NULL;
}

const struct fv_card *fv_card_named(const char *name)
{
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
        if (strcmp(cards[i].name, name) == 0)
            return &cards[i];
    return NULL;
}

const struct fv_card *fv_card_default(void)
{
    return fv_card_named("h100");
}

bool fv_card_attribute(const struct fv_card *card, CUdevice_attribute attribute, int *out)
{
    for (size_t i = 0; i < card->attribute_count; i++)
        if (card->attributes[i].attribute == attribute)
            return *out = card->attributes[i].value, true;
    return false;
}
