/* card.h: the GPU that FAKEVMM_DEVICE asks for. Owned by card.c; the figures are in cards.def. */
#ifndef FAKEVMM_CARD_H
#define FAKEVMM_CARD_H

#include "fakevmm.h"

struct fv_card {
    const char *name;  /* in FAKEVMM_DEVICE */
    const char *title; /* behind "fakevmm" in the device's name */
    size_t memory;
    size_t granularity; /* of cuMemCreate, minimum and recommended */
    const struct fv_card_attribute {
        CUdevice_attribute attribute;
        int value;
    } * attributes;
    size_t attribute_count;
};

/* The card of that name; NULL when there is none. */
const struct fv_card *fv_card_named(const char *name);
/* The one that is played when nobody asks for another. */
const struct fv_card *fv_card_default(void);
/* All cards, oldest first; NULL past the last. */
const struct fv_card *fv_card_at(size_t index);
/* True if the card has a value of its own for the attribute. */
bool fv_card_attribute(const struct fv_card *card, CUdevice_attribute attribute, int *out);

#endif
