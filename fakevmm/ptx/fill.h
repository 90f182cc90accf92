/* fill.h: slots of a frame whose value is known only when the frame is set up. */
#ifndef FAKEVMM_PTX_FILL_H
#define FAKEVMM_PTX_FILL_H

#include <stdint.h>

/* What a slot is filled with when a frame is set up, grouped by how often it changes. */
enum ptx_fill_kind {
    /* once per launch */
    PTX_FILL_VARIABLE, /* address of variable `index` */
    PTX_FILL_SHARED,   /* offset of shared variable `index` in this kernel */
    PTX_FILL_NTID_X,
    PTX_FILL_NTID_Y,
    PTX_FILL_NTID_Z,
    PTX_FILL_NCTAID_X,
    PTX_FILL_NCTAID_Y,
    PTX_FILL_NCTAID_Z,
    PTX_FILL_NWARPID,
    PTX_FILL_DYNAMIC_SHARED,
    PTX_FILL_TOTAL_SHARED,
    PTX_FILL_ZERO, /* %smid: one multiprocessor */
    PTX_FILL_ONE,  /* %nsmid */
    PTX_FILL_GRIDID,
    PTX_FILL_GRID_HIGH, /* the halves of the address where blocks of a cooperative launch meet */
    PTX_FILL_GRID_LOW,
    PTX_FILL_CLUSTER_NCTAID_X,
    PTX_FILL_CLUSTER_NCTAID_Y,
    PTX_FILL_CLUSTER_NCTAID_Z,
    PTX_FILL_CLUSTER_NCTARANK,
    PTX_FILL_NCLUSTERID_X,
    PTX_FILL_NCLUSTERID_Y,
    PTX_FILL_NCLUSTERID_Z,
    PTX_FILL_IS_CLUSTER,
    /* once per block */
    PTX_FILL_CTAID_X,
    PTX_FILL_CTAID_Y,
    PTX_FILL_CTAID_Z,
    PTX_FILL_CLUSTER_CTAID_X,
    PTX_FILL_CLUSTER_CTAID_Y,
    PTX_FILL_CLUSTER_CTAID_Z,
    PTX_FILL_CLUSTER_CTARANK,
    PTX_FILL_CLUSTERID_X,
    PTX_FILL_CLUSTERID_Y,
    PTX_FILL_CLUSTERID_Z,
    /* once per thread and call */
    PTX_FILL_TID_X,
    PTX_FILL_TID_Y,
    PTX_FILL_TID_Z,
    PTX_FILL_LANEID,
    PTX_FILL_WARPID,
    PTX_FILL_MASK_EQ,
    PTX_FILL_MASK_LT,
    PTX_FILL_MASK_LE,
    PTX_FILL_MASK_GT,
    PTX_FILL_MASK_GE,
    PTX_FILL_LOCAL, /* offset of `index` in this thread's local memory */
};

struct ptx_fill {
    uint16_t slot, kind;
    uint32_t index;
    int64_t addend;
};

#endif
