#include "textflag.h"

// 16..1, for adlerBlocks
DATA weights<>+0(SB)/8, $0x000d000e000f0010
DATA weights<>+8(SB)/8, $0x0009000a000b000c
DATA weights<>+16(SB)/8, $0x0005000600070008
DATA weights<>+24(SB)/8, $0x0001000200030004
GLOBL weights<>(SB), RODATA|NOPTR, $32

// the first three bytes
DATA pixel3<>+0(SB)/8, $0x0000000000ffffff
DATA pixel3<>+8(SB)/8, $0
GLOBL pixel3<>(SB), RODATA|NOPTR, $16

// func adlerBlocks(b *byte, n int) (low, high uint64)
TEXT ·adlerBlocks(SB), NOSPLIT, $0-32
	MOVQ  b+0(FP), SI
	MOVQ  n+8(FP), CX
	PXOR  X0, X0
	PXOR  X1, X1                // sum of the bytes so far
	PXOR  X2, X2                // sum of those sums, before each 16 bytes
	PXOR  X3, X3                // weighted sums within 16 bytes
	MOVOU weights<>+0(SB), X4
	MOVOU weights<>+16(SB), X5

loop:
	MOVOU     (SI), X6
	PADDQ     X1, X2
	MOVO      X6, X7
	MOVO      X6, X8
	PSADBW    X0, X6
	PADDQ     X6, X1
	PUNPCKLBW X0, X7
	PUNPCKHBW X0, X8
	PMADDWL   X4, X7
	PMADDWL   X5, X8
	PADDL     X7, X3
	PADDL     X8, X3
	ADDQ      $16, SI
	SUBQ      $16, CX
	JNZ       loop

	MOVO   X1, X6
	PSRLO  $8, X6
	PADDQ  X6, X1
	MOVQ   X1, AX
	MOVQ   AX, low+16(FP)
	MOVO   X2, X6
	PSRLO  $8, X6
	PADDQ  X6, X2
	MOVQ   X2, AX
	SHLQ   $4, AX
	PSHUFD $0x4e, X3, X6
	PADDL  X6, X3
	PSHUFD $0xb1, X3, X6
	PADDL  X6, X3
	MOVL   X3, BX
	ADDQ   BX, AX
	MOVQ   AX, high+24(FP)
	RET

// func upBlocks(row, above *byte, n int)
// n is a multiple of 16.
TEXT ·upBlocks(SB), NOSPLIT, $0-24
	MOVQ row+0(FP), SI
	MOVQ above+8(FP), DI
	MOVQ n+16(FP), CX
	XORQ AX, AX

loop:
	MOVOU (SI)(AX*1), X0
	MOVOU (DI)(AX*1), X1
	PADDB X1, X0
	MOVOU X0, (SI)(AX*1)
	ADDQ  $16, AX
	CMPQ  AX, CX
	JLT   loop
	RET

// func sub4Blocks(row *byte, n int)
// n is a multiple of 16. X0 holds the pixel to the left, four times.
TEXT ·sub4Blocks(SB), NOSPLIT, $0-16
	MOVQ row+0(FP), SI
	MOVQ n+8(FP), CX
	PXOR X0, X0

loop:
	MOVOU  (SI), X1
	MOVO   X1, X2
	PSLLO  $4, X2
	PADDB  X2, X1
	MOVO   X1, X2
	PSLLO  $8, X2
	PADDB  X2, X1
	PSHUFD $0xff, X1, X3
	PADDB  X0, X1
	PADDB  X3, X0
	MOVOU  X1, (SI)
	ADDQ   $16, SI
	SUBQ   $16, CX
	JNZ    loop
	RET

// func sub3Blocks(row *byte, n int)
// n is in blocks of four pixels; four bytes more are read. X0 holds the pixel to the left, four times.
TEXT ·sub3Blocks(SB), NOSPLIT, $0-16
	MOVQ  row+0(FP), SI
	MOVQ  n+8(FP), CX
	PXOR  X0, X0
	MOVOU pixel3<>(SB), X4

loop:
	MOVOU (SI), X1
	MOVO  X1, X2
	PSLLO $3, X2
	PADDB X2, X1
	MOVO  X1, X2
	PSLLO $6, X2
	PADDB X2, X1
	MOVO  X1, X3
	PSRLO $9, X3
	PAND  X4, X3
	MOVO  X3, X2
	PSLLO $3, X2
	POR   X2, X3
	MOVO  X3, X2
	PSLLO $6, X2
	POR   X2, X3
	PADDB X0, X1
	PADDB X3, X0
	MOVQ  X1, (SI)
	PSRLO $8, X1
	MOVL  X1, 8(SI)
	ADDQ  $12, SI
	DECQ  CX
	JNZ   loop
	RET

// func average4(row, above *byte, n int)
// n is in pixels. X0 holds the pixel to the left, inverted: the mean rounded down is the inverted mean,
// rounded up, of what is inverted.
TEXT ·average4(SB), NOSPLIT, $0-24
	MOVQ    row+0(FP), SI
	MOVQ    above+8(FP), DI
	MOVQ    n+16(FP), CX
	PCMPEQB X5, X5
	MOVO    X5, X0

loop:
	MOVL      (DI), X1
	MOVL      (SI), X2
	PXOR      X5, X1
	PAVGB     X1, X0
	PSUBB     X2, X0
	MOVO      X0, X3
	PXOR      X5, X3
	MOVL      X3, (SI)
	ADDQ      $4, SI
	ADDQ      $4, DI
	DECQ      CX
	JNZ       loop
	RET

// func average3(row, above *byte, n int)
// n is in pixels. X0 holds the pixel to the left, inverted: the mean rounded down is the inverted mean,
// rounded up, of what is inverted.
TEXT ·average3(SB), NOSPLIT, $0-24
	MOVQ    row+0(FP), SI
	MOVQ    above+8(FP), DI
	MOVQ    n+16(FP), CX
	PCMPEQB X5, X5
	MOVO    X5, X0

loop:
	MOVL      (DI), X1
	MOVL      (SI), X2
	PXOR      X5, X1
	PAVGB     X1, X0
	PSUBB     X2, X0
	MOVO      X0, X3
	PXOR      X5, X3
	MOVL      X3, AX
	MOVW      AX, (SI)
	SHRL      $16, AX
	MOVB      AX, 2(SI)
	ADDQ      $3, SI
	ADDQ      $3, DI
	DECQ      CX
	JNZ       loop
	RET

// func paeth4(row, above *byte, n int)
// n is in pixels. Sixteen bits a sample: X0 holds a, left; X1 b, above; X2 c, the corner. As few steps as can be
// lead from one pixel's a to the next: the three sums are made beside the two comparisons.
TEXT ·paeth4(SB), NOSPLIT, $0-24
	MOVQ row+0(FP), SI
	MOVQ above+8(FP), DI
	MOVQ n+16(FP), CX
	PXOR X0, X0
	PXOR X2, X2
	PXOR X15, X15

loop:
	MOVL      (DI), X1
	MOVL      (SI), X3
	PUNPCKLBW X15, X1
	PUNPCKLBW X15, X3
	MOVO      X2, X4
	PADDW     X2, X4
	PADDW     X2, X4
	PSUBW     X1, X4
	MOVO      X3, X5
	PADDB     X2, X5
	MOVO      X1, X2
	PSUBW     X0, X4      // turn: 3c-a-b
	MOVO      X0, X6
	PMINSW    X1, X6      // low
	PMAXSW    X1, X0      // high
	MOVO      X0, X7
	PCMPGTW   X4, X7      // high > turn
	PCMPGTW   X6, X4      // turn > low
	PADDB     X3, X0
	PADDB     X3, X6
	PAND      X7, X5
	PAND      X4, X5      // c where both are
	PANDN     X0, X4      // high where turn is no more than low
	PANDN     X6, X7      // low where turn is no less than high; where both are, they are the same
	POR       X7, X4
	POR       X5, X4
	MOVO      X4, X0
	PACKUSWB  X4, X4
	MOVL      X4, (SI)
	ADDQ      $4, SI
	ADDQ      $4, DI
	DECQ      CX
	JNZ       loop
	RET

// func paeth3(row, above *byte, n int)
// n is in pixels. Sixteen bits a sample: X0 holds a, left; X1 b, above; X2 c, the corner. As few steps as can be
// lead from one pixel's a to the next: the three sums are made beside the two comparisons.
TEXT ·paeth3(SB), NOSPLIT, $0-24
	MOVQ row+0(FP), SI
	MOVQ above+8(FP), DI
	MOVQ n+16(FP), CX
	PXOR X0, X0
	PXOR X2, X2
	PXOR X15, X15

loop:
	MOVL      (DI), X1
	MOVL      (SI), X3
	PUNPCKLBW X15, X1
	PUNPCKLBW X15, X3
	MOVO      X2, X4
	PADDW     X2, X4
	PADDW     X2, X4
	PSUBW     X1, X4
	MOVO      X3, X5
	PADDB     X2, X5
	MOVO      X1, X2
	PSUBW     X0, X4      // turn: 3c-a-b
	MOVO      X0, X6
	PMINSW    X1, X6      // low
	PMAXSW    X1, X0      // high
	MOVO      X0, X7
	PCMPGTW   X4, X7      // high > turn
	PCMPGTW   X6, X4      // turn > low
	PADDB     X3, X0
	PADDB     X3, X6
	PAND      X7, X5
	PAND      X4, X5      // c where both are
	PANDN     X0, X4      // high where turn is no more than low
	PANDN     X6, X7      // low where turn is no less than high; where both are, they are the same
	POR       X7, X4
	POR       X5, X4
	MOVO      X4, X0
	PACKUSWB  X4, X4
	MOVL      X4, AX
	MOVW      AX, (SI)
	SHRL      $16, AX
	MOVB      AX, 2(SI)
	ADDQ      $3, SI
	ADDQ      $3, DI
	DECQ      CX
	JNZ       loop
	RET
