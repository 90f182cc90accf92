/* link.h: joins several PTX texts to one. Owned by link_text.c; link.c has the driver's calls. */
#ifndef FAKEVMM_LINK_H
#define FAKEVMM_LINK_H

#include "fakevmm.h"

/* One text made of `count` texts that are each correct: names that a text keeps to itself get one
 * of their own, .weak definitions stay once, declarations of what another text defines go. malloc'd
 * and NUL-terminated; NULL when memory is out. What is defined twice or nowhere is left for who
 * reads the result. */
char *fv_link_texts(char *const *texts, unsigned count);

#endif
