#include "textflag.h"

// Two weights four times; in the upper half the next two.
DATA twice<>+0(SB)/8, $0x0302010003020100
DATA twice<>+8(SB)/8, $0x0302010003020100
DATA twice<>+16(SB)/8, $0x0706050407060504
DATA twice<>+24(SB)/8, $0x0706050407060504
GLOBL twice<>(SB), RODATA|NOPTR, $32

// Half of 1<<20, in the lower half only: both halves are added in the end.
DATA half20<>+0(SB)/8, $0x0008000000080000
DATA half20<>+8(SB)/8, $0x0008000000080000
DATA half20<>+16(SB)/8, $0
DATA half20<>+24(SB)/8, $0
GLOBL half20<>(SB), RODATA|NOPTR, $32

// Half of 1<<14, likewise.
DATA half14<>+0(SB)/8, $0x0000200000002000
DATA half14<>+8(SB)/8, $0x0000200000002000
DATA half14<>+16(SB)/8, $0
DATA half14<>+24(SB)/8, $0
GLOBL half14<>(SB), RODATA|NOPTR, $32

// Which of four weights go to the lower and the upper half, four times each.
DATA lower<>+0(SB)/8, $0
DATA lower<>+8(SB)/8, $0
DATA lower<>+16(SB)/8, $0x0000000100000001
DATA lower<>+24(SB)/8, $0x0000000100000001
GLOBL lower<>(SB), RODATA|NOPTR, $32
DATA upper<>+0(SB)/8, $0x0000000200000002
DATA upper<>+8(SB)/8, $0x0000000200000002
DATA upper<>+16(SB)/8, $0x0000000300000003
DATA upper<>+24(SB)/8, $0x0000000300000003
GLOBL upper<>(SB), RODATA|NOPTR, $32

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
	ANDL $6, AX          // the system keeps XMM and YMM
	CMPL AX, $6
	JNE  no
	MOVL $7, AX
	XORL CX, CX
	CPUID
	ANDL $0x20, BX       // AVX2
	JZ   no
	MOVB $1, ret+0(FP)

no:
	RET

// MIX32 adds two rows of 32 bytes, at off, times the pair of weights in Y14 to four sums.
#define MIX32(off, A, B, C, D) \
	VMOVDQU    off(R12)(R8*1), Y8 \
	VMOVDQU    off(R13)(R8*1), Y9 \
	VPUNPCKLBW Y9, Y8, Y10        \
	VPUNPCKHBW Y9, Y8, Y11        \
	VPUNPCKLBW Y15, Y10, Y12      \
	VPUNPCKHBW Y15, Y10, Y13      \
	VPUNPCKLBW Y15, Y11, Y8       \
	VPUNPCKHBW Y15, Y11, Y9       \
	VPMADDWD   Y14, Y12, Y12      \
	VPMADDWD   Y14, Y13, Y13      \
	VPMADDWD   Y14, Y8, Y8        \
	VPMADDWD   Y14, Y9, Y9        \
	VPADDD     Y12, A, A          \
	VPADDD     Y13, B, B          \
	VPADDD     Y8, C, C           \
	VPADDD     Y9, D, D

// PUT32 writes four sums as 32 numbers.
#define PUT32(off, A, B, C, D) \
	VPSRAD     $8, A, A                \
	VPSRAD     $8, B, B                \
	VPSRAD     $8, C, C                \
	VPSRAD     $8, D, D                \
	VPACKSSDW  B, A, A                 \
	VPACKSSDW  D, C, C                 \
	VPERM2I128 $0x20, C, A, Y8         \
	VPERM2I128 $0x31, C, A, Y9         \
	VMOVDQU    Y8, off(DI)(R8*2)       \
	VMOVDQU    Y9, (off+32)(DI)(R8*2)

// func downAVX2(out *int16, rows **byte, weights *int16, pairs, n int)
TEXT ·downAVX2(SB), NOSPLIT, $0-40
	MOVQ  out+0(FP), DI
	MOVQ  rows+8(FP), SI
	MOVQ  weights+16(FP), DX
	MOVQ  pairs+24(FP), CX
	MOVQ  n+32(FP), BX
	VPXOR Y15, Y15, Y15
	XORQ  R8, R8
	MOVL  $128, AX

block:
	CMPQ         R8, BX
	JGE          done
	VMOVD        AX, X0
	VPBROADCASTD X0, Y0
	VMOVDQA      Y0, Y1
	VMOVDQA      Y0, Y2
	VMOVDQA      Y0, Y3
	VMOVDQA      Y0, Y4
	VMOVDQA      Y0, Y5
	VMOVDQA      Y0, Y6
	VMOVDQA      Y0, Y7
	MOVQ         SI, R9
	MOVQ         DX, R10
	MOVQ         CX, R11

pair:
	MOVQ         (R9), R12
	MOVQ         8(R9), R13
	VPBROADCASTD (R10), Y14
	MIX32(0, Y0, Y1, Y2, Y3)
	MIX32(32, Y4, Y5, Y6, Y7)
	ADDQ         $16, R9
	ADDQ         $4, R10
	DECQ         R11
	JNZ          pair
	PUT32(0, Y0, Y1, Y2, Y3)
	PUT32(64, Y4, Y5, Y6, Y7)
	ADDQ         $64, R8
	JMP          block

done:
	VZEROUPPER
	RET

// func pixelsAVX2(out *byte, mid *int16, first *int32, weights *int16, quads, n, step int, order *[16]byte, plus uint32)
TEXT ·pixelsAVX2(SB), NOSPLIT, $0-68
	MOVQ           out+0(FP), DI
	MOVQ           mid+8(FP), SI
	MOVQ           first+16(FP), R8
	MOVQ           weights+24(FP), DX
	MOVQ           quads+32(FP), BX
	MOVQ           n+40(FP), CX
	MOVQ           step+48(FP), R12
	MOVQ           order+56(FP), AX
	VBROADCASTI128 (AX), Y13
	MOVL           plus+64(FP), AX
	VMOVD          AX, X15
	VMOVDQU        twice<>(SB), Y12
	VMOVDQU        half20<>(SB), Y14
	LEAQ           (R12)(R12*1), R13 // two pixels
	LEAQ           (R13)(R13*1), R10 // four

pixel:
	MOVLQSX (R8), R9
	IMULQ   R12, R9
	ADDQ    SI, R9
	MOVQ    BX, R11
	VMOVDQA Y14, Y0

quad:
	VMOVDQU      (R9), X1
	VPBROADCASTQ (DX), Y2
	VINSERTI128  $1, (R9)(R13*1), Y1, Y1
	VPSHUFB      Y12, Y2, Y2
	VPSHUFB      Y13, Y1, Y1
	VPMADDWD     Y2, Y1, Y1
	VPADDD       Y1, Y0, Y0
	ADDQ         R10, R9
	ADDQ         $8, DX
	DECQ         R11
	JNZ          quad
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSRAD       $20, X0, X0
	VPACKSSDW    X0, X0, X0
	VPACKUSWB    X0, X0, X0
	VPOR         X15, X0, X0
	VMOVD        X0, (DI)
	ADDQ         $4, DI
	ADDQ         $4, R8
	DECQ         CX
	JNZ          pixel
	VZEROUPPER
	RET

// func planeAVX2(out *byte, mid *int16, first *int32, weights *int16, groups, n int)
TEXT ·planeAVX2(SB), NOSPLIT, $0-48
	MOVQ         out+0(FP), DI
	MOVQ         mid+8(FP), SI
	MOVQ         first+16(FP), R8
	MOVQ         weights+24(FP), DX
	MOVQ         groups+32(FP), BX
	MOVQ         n+40(FP), CX
	SHLQ         $4, BX           // bytes of weights a result
	MOVL         $0x80000, AX
	VMOVD        AX, X15
	VPBROADCASTD X15, X15

four:
	MOVLQSX (R8), R9
	MOVLQSX 4(R8), R10
	MOVLQSX 8(R8), R11
	MOVLQSX 12(R8), R12
	LEAQ    (SI)(R9*2), R9
	LEAQ    (SI)(R10*2), R10
	LEAQ    (SI)(R11*2), R11
	LEAQ    (SI)(R12*2), R12
	LEAQ    (DX)(BX*2), R13
	VPXOR   X0, X0, X0
	VPXOR   X1, X1, X1
	VPXOR   X2, X2, X2
	VPXOR   X3, X3, X3
	XORQ    AX, AX

group:
	VMOVDQU  (R9)(AX*1), X4
	VMOVDQU  (R10)(AX*1), X5
	VMOVDQU  (R11)(AX*1), X6
	VMOVDQU  (R12)(AX*1), X7
	VPMADDWD (DX), X4, X4
	VPMADDWD (DX)(BX*1), X5, X5
	VPMADDWD (R13), X6, X6
	VPMADDWD (R13)(BX*1), X7, X7
	VPADDD   X4, X0, X0
	VPADDD   X5, X1, X1
	VPADDD   X6, X2, X2
	VPADDD   X7, X3, X3
	ADDQ     $16, DX
	ADDQ     $16, R13
	ADDQ     $16, AX
	CMPQ     AX, BX
	JLT      group

	VPHADDD   X1, X0, X0
	VPHADDD   X3, X2, X2
	VPHADDD   X2, X0, X0
	VPADDD    X15, X0, X0
	VPSRAD    $20, X0, X0
	VPACKSSDW X0, X0, X0
	VPACKUSWB X0, X0, X0
	VMOVD     X0, (DI)
	MOVQ      R13, DX
	ADDQ      BX, DX
	ADDQ      $4, DI
	ADDQ      $16, R8
	SUBQ      $4, CX
	JNZ       four
	VZEROUPPER
	RET

// func downAlphaAVX2(out *int32, rows **byte, weights *int16, pairs, n int, times, plus *[16]byte)
// Products of two bytes are made signed by taking half their range away; it comes back as 1<<29,
// since the weights' sum is 1<<14.
TEXT ·downAlphaAVX2(SB), NOSPLIT, $0-56
	MOVQ           out+0(FP), DI
	MOVQ           rows+8(FP), SI
	MOVQ           weights+16(FP), DX
	MOVQ           pairs+24(FP), CX
	MOVQ           n+32(FP), BX
	MOVQ           times+40(FP), AX
	VBROADCASTI128 (AX), Y13
	MOVQ           plus+48(FP), AX
	VBROADCASTI128 (AX), Y12
	VPCMPEQW       Y11, Y11, Y11
	VPSLLW         $15, Y11, Y11
	MOVL           $0x20002000, AX
	VMOVD          AX, X14
	VPBROADCASTD   X14, Y14
	XORQ           R8, R8

block:
	CMPQ    R8, BX
	JGE     done
	VMOVDQA Y14, Y0
	VMOVDQA Y14, Y1
	MOVQ    SI, R9
	MOVQ    DX, R10
	MOVQ    CX, R11

pair:
	MOVQ         (R9), R12
	MOVQ         8(R9), R13
	VPBROADCASTD (R10), Y10
	VPMOVZXBW    (R12)(R8*1), Y2
	VPMOVZXBW    (R13)(R8*1), Y3
	VPSHUFB      Y13, Y2, Y4
	VPSHUFB      Y13, Y3, Y5
	VPOR         Y12, Y4, Y4
	VPOR         Y12, Y5, Y5
	VPMULLW      Y4, Y2, Y2
	VPMULLW      Y5, Y3, Y3
	VPXOR        Y11, Y2, Y2
	VPXOR        Y11, Y3, Y3
	VPUNPCKLWD   Y3, Y2, Y4
	VPUNPCKHWD   Y3, Y2, Y5
	VPMADDWD     Y10, Y4, Y4
	VPMADDWD     Y10, Y5, Y5
	VPADDD       Y4, Y0, Y0
	VPADDD       Y5, Y1, Y1
	ADDQ         $16, R9
	ADDQ         $4, R10
	DECQ         R11
	JNZ          pair
	VPSRAD       $14, Y0, Y0
	VPSRAD       $14, Y1, Y1
	VPERM2I128   $0x20, Y1, Y0, Y2
	VPERM2I128   $0x31, Y1, Y0, Y3
	VMOVDQU      Y2, (DI)(R8*4)
	VMOVDQU      Y3, 32(DI)(R8*4)
	ADDQ         $16, R8
	JMP          block

done:
	VZEROUPPER
	RET

// func acrossAlphaAVX2(out, mid, first *int32, weights *int16, quads, n int)
TEXT ·acrossAlphaAVX2(SB), NOSPLIT, $0-48
	MOVQ    out+0(FP), DI
	MOVQ    mid+8(FP), SI
	MOVQ    first+16(FP), R8
	MOVQ    weights+24(FP), DX
	MOVQ    quads+32(FP), BX
	MOVQ    n+40(FP), CX
	VMOVDQU lower<>(SB), Y12
	VMOVDQU upper<>(SB), Y13
	VMOVDQU half14<>(SB), Y14

pixel:
	MOVLQSX (R8), R9
	SHLQ    $4, R9
	ADDQ    SI, R9
	MOVQ    BX, R11
	VMOVDQA Y14, Y0

quad:
	VPMOVSXWD (DX), X1
	VPERMD    Y1, Y12, Y2
	VPERMD    Y1, Y13, Y3
	VPMULLD   (R9), Y2, Y2
	VPMULLD   32(R9), Y3, Y3
	VPADDD    Y2, Y0, Y0
	VPADDD    Y3, Y0, Y0
	ADDQ      $64, R9
	ADDQ      $8, DX
	DECQ      R11
	JNZ       quad
	VEXTRACTI128 $1, Y0, X1
	VPADDD    X1, X0, X0
	VPSRAD    $14, X0, X0
	VMOVDQU   X0, (DI)
	ADDQ      $16, DI
	ADDQ      $4, R8
	DECQ      CX
	JNZ       pixel
	VZEROUPPER
	RET

// ALL broadcasts a number.
#define ALL(n, X, Y) \
	MOVL         $n, AX \
	VMOVD        AX, X  \
	VPBROADCASTD X, Y

// func rgbAVX2(out, luma, cb, cr *byte, n int)
TEXT ·rgbAVX2(SB), NOSPLIT, $0-40
	MOVQ  out+0(FP), DI
	MOVQ  luma+8(FP), SI
	MOVQ  cb+16(FP), R8
	MOVQ  cr+24(FP), R9
	MOVQ  n+32(FP), CX
	ALL(0x10101, X15, Y15)
	ALL(91881, X14, Y14)
	ALL(22554, X13, Y13)
	ALL(46802, X12, Y12)
	ALL(116130, X11, Y11)
	ALL(128, X10, Y10)
	ALL(255, X9, Y9)
	ALL(0xff000000, X8, Y8)
	VPXOR Y7, Y7, Y7
	XORQ  BX, BX

eight:
	VPMOVZXBD (SI)(BX*1), Y0
	VPMOVZXBD (R8)(BX*1), Y1
	VPMOVZXBD (R9)(BX*1), Y2
	VPSUBD    Y10, Y1, Y1
	VPSUBD    Y10, Y2, Y2
	VPMULLD   Y15, Y0, Y0
	VPMULLD   Y14, Y2, Y3
	VPMULLD   Y13, Y1, Y4
	VPMULLD   Y12, Y2, Y5
	VPMULLD   Y11, Y1, Y6
	VPADDD    Y3, Y0, Y3 // red
	VPSUBD    Y4, Y0, Y4
	VPSUBD    Y5, Y4, Y4 // green
	VPADDD    Y6, Y0, Y6 // blue
	VPSRAD    $16, Y3, Y3
	VPSRAD    $16, Y4, Y4
	VPSRAD    $16, Y6, Y6
	VPMAXSD   Y7, Y3, Y3
	VPMAXSD   Y7, Y4, Y4
	VPMAXSD   Y7, Y6, Y6
	VPMINSD   Y9, Y3, Y3
	VPMINSD   Y9, Y4, Y4
	VPMINSD   Y9, Y6, Y6
	VPSLLD    $8, Y4, Y4
	VPSLLD    $16, Y6, Y6
	VPOR      Y4, Y3, Y3
	VPOR      Y6, Y8, Y6
	VPOR      Y6, Y3, Y3
	VMOVDQU   Y3, (DI)(BX*4)
	ADDQ      $8, BX
	CMPQ      BX, CX
	JLT       eight
	VZEROUPPER
	RET
