/* dlsym.S: the dlsym and dlvsym that programs see. They end in a jump, never in a call: the next one
 * finds the caller's return address where it was, so RTLD_NEXT, RTLD_DEFAULT and dlerror behave as
 * without us.
 *
 * Names that do not start with "cu" and a capital letter go straight on, and so does RTLD_DEFAULT (0). A
 * driver name with RTLD_NEXT (-1) is noted on the way. With any other handle the caller does not matter to
 * the look-up, and C code does it; it is told the caller, because a driver's own look-ups are not ours.
 *
 * Both carry the versions that glibc gave them on this machine. A reference of either version would
 * take an unversioned symbol too, but dlvsym(RTLD_NEXT, "dlsym", version), which other libraries that
 * override dlsym use to find the next one, would not. */

#if defined(__x86_64__)

#define FIRST_VERSION GLIBC_2.2.5

/* The arguments are in rdi, rsi and, for dlvsym, rdx; the register after the last one takes the caller. */
.macro door driver, caller, slot, finder
    endbr64
    testq   %rsi, %rsi
    je      .Lnext\@
    cmpb    $'c', (%rsi)
    jne     .Lnext\@
    cmpb    $'u', 1(%rsi)
    jne     .Lnext\@
    movzbl  2(%rsi), %eax
    subl    $'A', %eax
    cmpl    $25, %eax
    ja      .Lnext\@
    leaq    1(%rdi), %rax
    cmpq    $1, %rax
    ja      .Ldriver\@
    testq   %rdi, %rdi
    je      .Lnext\@
    movq    (%rsp), %rax
    save
    movq    %rsi, %rdi
    movq    %rax, %rsi
    call    vr_next_looked_up
    restore
.Lnext\@:
    movq    vr_shim+\slot(%rip), %rax
    testq   %rax, %rax
    je      .Lfind\@
    jmp     *%rax
.Lfind\@:
    save
    call    \finder
    restore
    testq   %rax, %rax
    je      .Lnone\@
    jmp     *%rax
.Lnone\@:
    ret
.Ldriver\@:
    movq    (%rsp), \caller
    jmp     \driver
.endm

.macro save
    pushq   %rdi
    .cfi_adjust_cfa_offset 8
    pushq   %rsi
    .cfi_adjust_cfa_offset 8
    pushq   %rdx
    .cfi_adjust_cfa_offset 8
.endm

.macro restore
    popq    %rdx
    .cfi_adjust_cfa_offset -8
    popq    %rsi
    .cfi_adjust_cfa_offset -8
    popq    %rdi
    .cfi_adjust_cfa_offset -8
.endm

#define DLSYM_CALLER  %rdx
#define DLVSYM_CALLER %rcx
#define FUNCTION      @function

#elif defined(__aarch64__)

#define FIRST_VERSION GLIBC_2.17

/* The arguments are in x0, x1 and, for dlvsym, x2; the register after the last one takes the caller. */
.macro door driver, caller, slot, finder
    hint    #34 /* bti c */
    cbz     x1, .Lnext\@
    ldrb    w9, [x1]
    cmp     w9, #'c'
    b.ne    .Lnext\@
    ldrb    w9, [x1, #1]
    cmp     w9, #'u'
    b.ne    .Lnext\@
    ldrb    w9, [x1, #2]
    sub     w9, w9, #'A'
    cmp     w9, #25
    b.hi    .Lnext\@
    add     x9, x0, #1
    cmp     x9, #1
    b.hi    .Ldriver\@
    cbz     x0, .Lnext\@
    save
    mov     x0, x1
    mov     x1, x30
    bl      vr_next_looked_up
    restore
.Lnext\@:
    adrp    x16, vr_shim
    add     x16, x16, :lo12:vr_shim
    ldr     x16, [x16, #\slot]
    cbz     x16, .Lfind\@
    br      x16
.Lfind\@:
    save
    bl      \finder
    mov     x16, x0
    restore
    cbz     x16, .Lnone\@
    br      x16
.Lnone\@:
    mov     x0, #0
    ret
.Ldriver\@:
    mov     \caller, x30
    b       \driver
.endm

.macro save
    stp     x29, x30, [sp, #-48]!
    .cfi_adjust_cfa_offset 48
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    stp     x0, x1, [sp, #16]
    str     x2, [sp, #32]
.endm

.macro restore
    ldr     x2, [sp, #32]
    ldp     x0, x1, [sp, #16]
    ldp     x29, x30, [sp], #48
    .cfi_adjust_cfa_offset -48
    .cfi_restore x29
    .cfi_restore x30
.endm

#define DLSYM_CALLER  x2
#define DLVSYM_CALLER x3
#define FUNCTION      %function

#else
#error "dlsym has to be a tail jump: add this architecture here"
#endif

    .text
    .globl vr_dlsym, vr_dlsym_first, vr_dlvsym, vr_dlvsym_first
    .type vr_dlsym, FUNCTION
    .type vr_dlsym_first, FUNCTION
    .type vr_dlvsym, FUNCTION
    .type vr_dlvsym_first, FUNCTION
    .symver vr_dlsym, dlsym@@GLIBC_2.34
    .symver vr_dlsym_first, dlsym@FIRST_VERSION
    .symver vr_dlvsym, dlvsym@@GLIBC_2.34
    .symver vr_dlvsym_first, dlvsym@FIRST_VERSION

    .p2align 4
vr_dlsym:
vr_dlsym_first:
    .cfi_startproc
    door    vr_dlsym_driver, DLSYM_CALLER, 0, vr_find_dlsym
    .cfi_endproc
    .size vr_dlsym, .-vr_dlsym
    .size vr_dlsym_first, .-vr_dlsym_first

    .p2align 4
vr_dlvsym:
vr_dlvsym_first:
    .cfi_startproc
    door    vr_dlvsym_driver, DLVSYM_CALLER, 8, vr_find_dlvsym
    .cfi_endproc
    .size vr_dlvsym, .-vr_dlvsym
    .size vr_dlvsym_first, .-vr_dlvsym_first

    .section .note.GNU-stack, "", %progbits
