#include "textflag.h"

// func paethBlocks(dst, row, left, above, corner *byte, n int)
// n is a multiple of 16. SSE2 only, which every amd64 has.
TEXT ·paethBlocks(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ left+16(FP), R8
	MOVQ above+24(FP), R9
	MOVQ corner+32(FP), R10
	MOVQ n+40(FP), CX
	XORQ AX, AX
	PXOR X15, X15

loop:
	CMPQ AX, CX
	JGE  done
	MOVOU (R8)(AX*1), X0  // a, left
	MOVOU (R9)(AX*1), X1  // b, above
	MOVOU (R10)(AX*1), X2 // c, corner

	// pa = |b-c|; X4 is nonzero where c > b
	MOVO    X1, X3
	PSUBUSB X2, X3
	MOVO    X2, X4
	PSUBUSB X1, X4
	POR     X4, X3

	// pb = |a-c|; X6 is nonzero where c > a
	MOVO    X0, X5
	PSUBUSB X2, X5
	MOVO    X2, X6
	PSUBUSB X0, X6
	POR     X6, X5

	// where b-c and a-c point the same way, |a+b-2c| is no less than either: 255 stands for it
	PCMPEQB X15, X4
	PCMPEQB X15, X6
	PCMPEQB X6, X4

	// elsewhere it is |pa-pb|
	MOVO    X3, X7
	PSUBUSB X5, X7
	MOVO    X5, X8
	PSUBUSB X3, X8
	POR     X8, X7
	POR     X4, X7

	// the nearest: a before b before c
	MOVO    X3, X8
	PMINUB  X5, X8
	PMINUB  X7, X8
	PCMPEQB X8, X3
	PCMPEQB X8, X5
	PAND    X5, X1
	PANDN   X2, X5
	POR     X5, X1
	PAND    X3, X0
	PANDN   X1, X3
	POR     X3, X0

	MOVOU (SI)(AX*1), X9
	PSUBB X0, X9
	MOVOU X9, (DI)(AX*1)
	ADDQ  $16, AX
	JMP   loop

done:
	RET

// func weightBlocks(row *byte, n int) int
// n is a multiple of 16.
TEXT ·weightBlocks(SB), NOSPLIT, $0-24
	MOVQ row+0(FP), SI
	MOVQ n+8(FP), CX
	XORQ AX, AX
	PXOR X15, X15
	PXOR X14, X14

loop:
	CMPQ AX, CX
	JGE  done
	MOVOU  (SI)(AX*1), X0
	PXOR   X1, X1
	PSUBB  X0, X1          // -b
	PMINUB X1, X0          // the smaller of b and 256-b is the distance from zero
	PSADBW X15, X0
	PADDQ  X0, X14
	ADDQ   $16, AX
	JMP    loop

done:
	MOVO   X14, X0
	PSRLDQ $8, X0
	PADDQ  X0, X14
	MOVQ   X14, ret+16(FP)
	RET
