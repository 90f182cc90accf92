/* effects.h: what a call means for core's books, one row for each class of entries.h; the only list
 * of them. The wrappers of body AROUND do what their row says, and docs/design.md shows the rows.
 *
 *   VR_CLASS(class, records, generation, epoch, profile, memory)
 *
 *   records     which node records are not believed after the call, whatever the driver answered:
 *               NONE, NODE (of the node that is the second argument), NESTED (that one's, and those
 *               of the nodes in its child graph), EXEC (all of the exec that is the first
 *               argument), ORIGIN (of every exec that may hold nodes of the graph that is the first
 *               argument), ALL; MADE: the driver's answer makes the node's record or ends it
 *   generation  the code generation: STAYS, or MOVES before the call and after it
 *   epoch       the exec's: STAYS, MOVES after the call, BUCKET: that of every exec whose graph
 *               shares the bucket moves, before the call and after it
 *   profile     of the exec: STAYS, BEGINS, SETTER (the first accepted one begins it anew, and a
 *               suspended one goes on), LAUNCH (an accepted one is counted), RESTARTS (suspended
 *               until the next accepted setter), ENDS
 *   memory      what is learnt of device memory: NONE, OPERANDS (what copies and fills name),
 *               CONTEXT, PRIMARY, DETACHED (that a context has ended), OWNER (allocations, and
 *               what may be asked or done with ours)
 *
 * No rung defers an update, so no class has anything to settle first.
 *
 * Include with VR_CLASS defined; it is undefined at the end. */

/* clang-format off */

/* Bodies of their own. */
VR_CLASS(RESOLVE, NONE,   STAYS, STAYS,  STAYS,    NONE)
VR_CLASS(BIRTH,   NONE,   STAYS, STAYS,  BEGINS,   OPERANDS)
VR_CLASS(SETTER,  MADE,   STAYS, STAYS,  SETTER,   OPERANDS)
/* Of a graph that moves into another; any other node that is added means nothing. */
VR_CLASS(ADD,     ALL,    MOVES, STAYS,  STAYS,    NONE)
VR_CLASS(LAUNCH,  NONE,   STAYS, STAYS,  LAUNCH,   NONE)
VR_CLASS(DEATH,   EXEC,   STAYS, STAYS,  ENDS,     NONE)
VR_CLASS(ALLOC,   NONE,   STAYS, STAYS,  STAYS,    OWNER)
VR_CLASS(FREE,    NONE,   STAYS, STAYS,  STAYS,    OWNER)
VR_CLASS(QUERY,   NONE,   STAYS, STAYS,  STAYS,    OWNER)
VR_CLASS(PIN,     NONE,   STAYS, STAYS,  STAYS,    OWNER)
VR_CLASS(PEER,    NONE,   STAYS, STAYS,  STAYS,    OWNER)
VR_CLASS(CAPTURE, NONE,   STAYS, STAYS,  STAYS,    NONE)
/* The real call, once more if it finds no memory and we kept some. */
VR_CLASS(RETRY,   NONE,   STAYS, STAYS,  STAYS,    NONE)
/* The real call, whose error is taken note of: what waits is where a lost context shows first. */
VR_CLASS(SEEN,    NONE,   STAYS, STAYS,  STAYS,    NONE)
/* The real call between a begin and an end that do what the row says. */
VR_CLASS(NODE,    NODE,   STAYS, STAYS,  SETTER,   NONE)
VR_CLASS(CHILD,   NESTED, STAYS, STAYS,  SETTER,   NONE)
VR_CLASS(UPDATE,  EXEC,   STAYS, MOVES,  RESTARTS, OPERANDS)
VR_CLASS(GRAPH,   ORIGIN, STAYS, BUCKET, STAYS,    NONE)
VR_CLASS(CODE,    ALL,    MOVES, STAYS,  STAYS,    NONE)
VR_CLASS(CONTEXT, ALL,    MOVES, STAYS,  STAYS,    CONTEXT)
VR_CLASS(PRIMARY, ALL,    MOVES, STAYS,  STAYS,    PRIMARY)
VR_CLASS(DETACH,  ALL,    MOVES, STAYS,  STAYS,    DETACHED)

/* clang-format on */

#undef VR_CLASS
