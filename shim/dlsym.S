/* dlsym.S: the dlsym that programs see. It ends in a jump, never in a call: the next dlsym finds the
 * caller's return address where it was, so RTLD_NEXT, RTLD_DEFAULT and dlerror behave as without us.
 *
 * Names that do not start with "cu" and a capital letter go straight on, and so does RTLD_DEFAULT (0). A
 * driver name with RTLD_NEXT (-1) is noted on the way. With any other handle the caller does not matter to
 * dlsym, and C code looks. */

#if defined(__x86_64__)

    .text
    .globl dlsym
    .type dlsym, @function
    .p2align 4
dlsym:
    .cfi_startproc
    endbr64
    testq   %rsi, %rsi
    je      .Lnext
    cmpb    $'c', (%rsi)
    jne     .Lnext
    cmpb    $'u', 1(%rsi)
    jne     .Lnext
    movzbl  2(%rsi), %eax
    subl    $'A', %eax
    cmpl    $25, %eax
    ja      .Lnext
    leaq    1(%rdi), %rax
    cmpq    $1, %rax
    ja      vr_dlsym_driver
    testq   %rdi, %rdi
    je      .Lnext
    movq    (%rsp), %rdx
    pushq   %rdi
    .cfi_adjust_cfa_offset 8
    pushq   %rsi
    .cfi_adjust_cfa_offset 8
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    movq    %rsi, %rdi
    movq    %rdx, %rsi
    call    vr_next_looked_up
    addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq    %rsi
    .cfi_adjust_cfa_offset -8
    popq    %rdi
    .cfi_adjust_cfa_offset -8
.Lnext:
    movq    vr_shim(%rip), %rax
    testq   %rax, %rax
    je      .Lfind
    jmp     *%rax
.Lfind:
    pushq   %rdi
    .cfi_adjust_cfa_offset 8
    pushq   %rsi
    .cfi_adjust_cfa_offset 8
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    call    vr_find_dlsym
    addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq    %rsi
    .cfi_adjust_cfa_offset -8
    popq    %rdi
    .cfi_adjust_cfa_offset -8
    testq   %rax, %rax
    je      .Lnone
    jmp     *%rax
.Lnone:
    ret
    .cfi_endproc
    .size dlsym, .-dlsym

#elif defined(__aarch64__)

    .text
    .globl dlsym
    .type dlsym, %function
    .p2align 4
dlsym:
    .cfi_startproc
    hint    #34 /* bti c */
    cbz     x1, .Lnext
    ldrb    w2, [x1]
    cmp     w2, #'c'
    b.ne    .Lnext
    ldrb    w2, [x1, #1]
    cmp     w2, #'u'
    b.ne    .Lnext
    ldrb    w2, [x1, #2]
    sub     w2, w2, #'A'
    cmp     w2, #25
    b.hi    .Lnext
    add     x2, x0, #1
    cmp     x2, #1
    b.hi    vr_dlsym_driver
    cbz     x0, .Lnext
    stp     x29, x30, [sp, #-32]!
    .cfi_adjust_cfa_offset 32
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    stp     x0, x1, [sp, #16]
    mov     x0, x1
    mov     x1, x30
    bl      vr_next_looked_up
    ldp     x0, x1, [sp, #16]
    ldp     x29, x30, [sp], #32
    .cfi_adjust_cfa_offset -32
    .cfi_restore x29
    .cfi_restore x30
.Lnext:
    adrp    x16, vr_shim
    ldr     x16, [x16, #:lo12:vr_shim]
    cbz     x16, .Lfind
    br      x16
.Lfind:
    stp     x29, x30, [sp, #-32]!
    .cfi_adjust_cfa_offset 32
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    stp     x0, x1, [sp, #16]
    bl      vr_find_dlsym
    mov     x16, x0
    ldp     x0, x1, [sp, #16]
    ldp     x29, x30, [sp], #32
    .cfi_adjust_cfa_offset -32
    .cfi_restore x29
    .cfi_restore x30
    cbz     x16, .Lnone
    br      x16
.Lnone:
    mov     x0, #0
    ret
    .cfi_endproc
    .size dlsym, .-dlsym

#else
#error "dlsym has to be a tail jump: add this architecture here"
#endif

    .section .note.GNU-stack, "", %progbits
