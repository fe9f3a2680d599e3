#include "textflag.h"

// Bytes 0 4 1 5 2 6 3 7 as words, for two pixels; in the upper half the next two.
DATA pairs<>+0(SB)/8, $0x8005800180048000
DATA pairs<>+8(SB)/8, $0x8007800380068002
DATA pairs<>+16(SB)/8, $0x800d8009800c8008
DATA pairs<>+24(SB)/8, $0x800f800b800e800a
GLOBL pairs<>(SB), RODATA|NOPTR, $32

// Two weights four times; in the upper half the next two.
DATA twice<>+0(SB)/8, $0x0302010003020100
DATA twice<>+8(SB)/8, $0x0302010003020100
DATA twice<>+16(SB)/8, $0x0706050407060504
DATA twice<>+24(SB)/8, $0x0706050407060504
GLOBL twice<>(SB), RODATA|NOPTR, $32

// Half of one, in the lower half only: both halves are added in the end.
DATA round<>+0(SB)/8, $0x0000200000002000
DATA round<>+8(SB)/8, $0x0000200000002000
DATA round<>+16(SB)/8, $0
DATA round<>+24(SB)/8, $0
GLOBL round<>(SB), RODATA|NOPTR, $32

// func hasAVX2() bool
TEXT ·hasAVX2(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	XORL AX, AX
	CPUID
	CMPL AX, $7
	JLT  no
	MOVL $1, AX
	XORL CX, CX
	CPUID
	ANDL $0x18000000, CX // OSXSAVE and AVX
	CMPL CX, $0x18000000
	JNE  no
	XORL CX, CX
	XGETBV
	ANDL $6, AX // the system saves XMM and YMM
	CMPL AX, $6
	JNE  no
	MOVL $7, AX
	XORL CX, CX
	CPUID
	ANDL $0x20, BX // AVX2
	JZ   no
	MOVB $1, ret+0(FP)

no:
	RET

// func mixRowsAVX2(dst *byte, rows **byte, weights *int16, pairs, n int)
TEXT ·mixRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         rows+8(FP), SI
	MOVQ         weights+16(FP), DX
	MOVQ         pairs+24(FP), CX
	MOVQ         n+32(FP), BX
	VPXOR        Y15, Y15, Y15
	MOVL         $8192, AX
	VMOVD        AX, X14
	VPBROADCASTD X14, Y14
	XORQ         R8, R8

block:
	CMPQ    R8, BX
	JGE     done
	VMOVDQA Y14, Y0
	VMOVDQA Y14, Y1
	VMOVDQA Y14, Y2
	VMOVDQA Y14, Y3
	MOVQ    SI, R9
	MOVQ    DX, R10
	MOVQ    CX, R11

pair:
	MOVQ         (R9), R12
	MOVQ         8(R9), R13
	VMOVDQU      (R12)(R8*1), Y4
	VMOVDQU      (R13)(R8*1), Y5
	VPBROADCASTD (R10), Y6
	VPUNPCKLBW   Y5, Y4, Y7
	VPUNPCKHBW   Y5, Y4, Y8
	VPUNPCKLBW   Y15, Y7, Y9
	VPUNPCKHBW   Y15, Y7, Y10
	VPUNPCKLBW   Y15, Y8, Y11
	VPUNPCKHBW   Y15, Y8, Y12
	VPMADDWD     Y6, Y9, Y9
	VPMADDWD     Y6, Y10, Y10
	VPMADDWD     Y6, Y11, Y11
	VPMADDWD     Y6, Y12, Y12
	VPADDD       Y9, Y0, Y0
	VPADDD       Y10, Y1, Y1
	VPADDD       Y11, Y2, Y2
	VPADDD       Y12, Y3, Y3
	ADDQ         $16, R9
	ADDQ         $4, R10
	DECQ         R11
	JNZ          pair
	VPSRAD       $14, Y0, Y0
	VPSRAD       $14, Y1, Y1
	VPSRAD       $14, Y2, Y2
	VPSRAD       $14, Y3, Y3
	VPACKSSDW    Y1, Y0, Y0
	VPACKSSDW    Y3, Y2, Y2
	VPACKUSWB    Y2, Y0, Y0
	VMOVDQU      Y0, (DI)(R8*1)
	ADDQ         $32, R8
	JMP          block

done:
	VZEROUPPER
	RET

// func mixAcross4AVX2(dst, src *byte, list *tap, weights *int16, quads, n int)
TEXT ·mixAcross4AVX2(SB), NOSPLIT, $0-48
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    list+16(FP), R8
	MOVQ    weights+24(FP), DX
	MOVQ    quads+32(FP), BX
	MOVQ    n+40(FP), CX
	VMOVDQU pairs<>(SB), Y13
	VMOVDQU twice<>(SB), Y12
	VMOVDQU round<>(SB), Y14

pixel:
	MOVLQSX (R8), R9
	MOVLQSX 4(R8), R10
	LEAQ    (SI)(R9*4), R9
	LEAQ    (DX)(R10*2), R10
	MOVQ    BX, R11
	VMOVDQA Y14, Y0

quad:
	VBROADCASTI128 (R9), Y1
	VPBROADCASTQ   (R10), Y2
	VPSHUFB        Y13, Y1, Y1
	VPSHUFB        Y12, Y2, Y2
	VPMADDWD       Y2, Y1, Y1
	VPADDD         Y1, Y0, Y0
	ADDQ           $16, R9
	ADDQ           $8, R10
	DECQ           R11
	JNZ            quad
	VEXTRACTI128   $1, Y0, X1
	VPADDD         X1, X0, X0
	VPSRAD         $14, X0, X0
	VPACKSSDW      X0, X0, X0
	VPACKUSWB      X0, X0, X0
	VMOVD          X0, (DI)
	ADDQ           $4, DI
	ADDQ           $8, R8
	DECQ           CX
	JNZ            pixel
	VZEROUPPER
	RET

// func mixAcross1AVX2(dst, src *byte, list *tap, weights *int16, eights, n int)
TEXT ·mixAcross1AVX2(SB), NOSPLIT, $0-48
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    list+16(FP), R8
	MOVQ    weights+24(FP), DX
	MOVQ    eights+32(FP), BX
	MOVQ    n+40(FP), CX

pixel:
	MOVLQSX (R8), R9
	MOVLQSX 4(R8), R10
	LEAQ    (SI)(R9*1), R9
	LEAQ    (DX)(R10*2), R10
	MOVQ    BX, R11
	VPXOR   X0, X0, X0

eight:
	VPMOVZXBW (R9), X1
	VPMADDWD  (R10), X1, X1
	VPADDD    X1, X0, X0
	ADDQ      $8, R9
	ADDQ      $16, R10
	DECQ      R11
	JNZ       eight
	VPSHUFD   $0x4e, X0, X1
	VPADDD    X1, X0, X0
	VPSHUFD   $0xb1, X0, X1
	VPADDD    X1, X0, X0
	VMOVD     X0, AX
	ADDL      $8192, AX
	SARL      $14, AX
	VMOVD     AX, X0
	VPACKSSDW X0, X0, X0
	VPACKUSWB X0, X0, X0
	VPEXTRB   $0, X0, (DI)
	INCQ      DI
	ADDQ      $8, R8
	DECQ      CX
	JNZ       pixel
	VZEROUPPER
	RET
