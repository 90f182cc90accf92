/* tree.c: height-balanced binary trees (AVL): the two subtrees of a node differ by one level at
 * most, restored by rotations on the way back from a change. It must not know what is in one. */
#include "tree.h"

static int height(const struct fv_tree_node *node)
{
    return node ? node->height : 0;
}

static size_t heaviest(const struct fv_tree_node *node)
{
    return node ? node->heaviest : 0;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Sets what a node says about its subtree. */
static void measure(struct fv_tree_node *node)
{
    const struct fv_tree_node *left = node->child[0], *right = node->child[1];

    node->height = 1 + (height(left) > height(right) ? height(left) : height(right));
    node->heaviest = larger(node->weight, larger(heaviest(left), heaviest(right)));
}

/* Lifts a node's child on one side above it; returns the child. */
static struct fv_tree_node *rotate(struct fv_tree_node *node, int side)
{
    struct fv_tree_node *top = node->child[side];

    node->child[side] = top->child[!side];
    top->child[!side] = node;
    measure(node);
    measure(top);
    return top;
}

/* The subtree in balance again, after one of its sides has changed by one level. */
static struct fv_tree_node *balance(struct fv_tree_node *node)
{
    int lean = height(node->child[1]) - height(node->child[0]), side = lean > 0;
    struct fv_tree_node *heavy = node->child[side];

    if (lean >= -1 && lean <= 1) {
        measure(node);
        return node;
    }
    if (height(heavy->child[!side]) > height(heavy->child[side]))
        node->child[side] = rotate(heavy, !side);
    return rotate(node, side);
}

static struct fv_tree_node *insert(struct fv_tree_node *root, struct fv_tree_node *node)
{
    int side;

    if (!root)
        return node;
    side = node->key > root->key;
    root->child[side] = insert(root->child[side], node);
    return balance(root);
}

void fv_tree_add(struct fv_tree *tree, struct fv_tree_node *node)
{
    node->child[0] = node->child[1] = NULL;
    measure(node);
    tree->root = insert(tree->root, node);
    tree->count++;
}

/* Takes the least node out of a subtree that has one. */
static struct fv_tree_node *take_least(struct fv_tree_node *root, struct fv_tree_node **least)
{
    if (!root->child[0]) {
        *least = root;
        return root->child[1];
    }
    root->child[0] = take_least(root->child[0], least);
    return balance(root);
}

static struct fv_tree_node *without(struct fv_tree_node *root, uint64_t key)
{
    struct fv_tree_node *next;

    if (root->key != key) {
        int side = key > root->key;
        root->child[side] = without(root->child[side], key);
        return balance(root);
    }
    if (!root->child[1])
        return root->child[0];
    root->child[1] = take_least(root->child[1], &next);
    next->child[0] = root->child[0];
    next->child[1] = root->child[1];
    return balance(next);
}

void fv_tree_remove(struct fv_tree *tree, struct fv_tree_node *node)
{
    tree->root = without(tree->root, node->key);
    tree->count--;
}

struct fv_tree_node *fv_tree_floor(const struct fv_tree *tree, uint64_t key)
{
    struct fv_tree_node *best = NULL;

    for (struct fv_tree_node *it = tree->root; it; it = it->child[it->key <= key])
        if (it->key <= key)
            best = it;
    return best;
}

struct fv_tree_node *fv_tree_ceiling(const struct fv_tree *tree, uint64_t key)
{
    struct fv_tree_node *best = NULL;

    for (struct fv_tree_node *it = tree->root; it; it = it->child[it->key < key])
        if (it->key >= key)
            best = it;
    return best;
}

struct range {
    uint64_t from, to;
    size_t weight;
    bool last;
};

/* Whole subtrees without the weight are passed over. */
static struct fv_tree_node *fit(struct fv_tree_node *root, const struct range *range)
{
    struct fv_tree_node *found;

    if (!root || root->heaviest < range->weight)
        return NULL;
    if (root->key < range->from)
        return fit(root->child[1], range);
    if (root->key > range->to)
        return fit(root->child[0], range);
    found = fit(root->child[range->last], range);
    if (found)
        return found;
    return root->weight >= range->weight ? root : fit(root->child[!range->last], range);
}

struct fv_tree_node *fv_tree_fit(const struct fv_tree *tree, uint64_t from, uint64_t to,
                                 size_t weight, bool last)
{
    return fit(tree->root, &(struct range){from, to, weight, last});
}
