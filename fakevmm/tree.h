/* tree.h: things in the order of a number, found in logarithmic time however many there are: the
 * mappings by address, reservations, handles, and the free pieces of the address range. A node is
 * embedded in the thing itself. The caller locks. Owned by tree.c. */
#ifndef FAKEVMM_TREE_H
#define FAKEVMM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fv_tree_node {
    uint64_t key;
    size_t weight;   /* what fv_tree_fit() asks for; constant while in a tree */
    size_t heaviest; /* weight in the subtree */
    struct fv_tree_node *child[2];
    int height;
};

/* Zeroed: an empty one. */
struct fv_tree {
    struct fv_tree_node *root;
    size_t count;
};

/* The thing a node is embedded in. NULL stays NULL. */
#define FV_TREE_OF(node, type, member)                                                             \
    ((type *)((node) ? (char *)(node)-offsetof(type, member) : NULL))

/* The key must be new to the tree; key and weight are set by the caller. */
void fv_tree_add(struct fv_tree *tree, struct fv_tree_node *node);
/* The node must be there. */
void fv_tree_remove(struct fv_tree *tree, struct fv_tree_node *node);
/* The node with the greatest key at or below a key, or NULL. */
struct fv_tree_node *fv_tree_floor(const struct fv_tree *tree, uint64_t key);
/* The node with the least key at or above a key, or NULL. */
struct fv_tree_node *fv_tree_ceiling(const struct fv_tree *tree, uint64_t key);
/* Of the nodes with keys in [from, to] and at least that weight, the one with the least key, or, if
 * `last`, the greatest; NULL without any. */
struct fv_tree_node *fv_tree_fit(const struct fv_tree *tree, uint64_t from, uint64_t to,
                                 size_t weight, bool last);

#endif
