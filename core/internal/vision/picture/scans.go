package picture

// progress follows the scans of a progressive JPEG: for each component, the
// bits that every coefficient still lacks, counted from 1; 0 is never seen.
type progress map[byte]*[64]byte

// scan notes what one scan delivers, from its header (ITU-T T.81, B.2.3).
func (p progress) scan(header []byte) {
	if len(header) < 1 || len(header) < 4+2*int(header[0]) {
		return
	}
	n := int(header[0])
	first, last, lacks := header[1+2*n], min(header[2+2*n], 63), header[3+2*n]&0xf
	for c := range n {
		id := header[1+2*c]
		if p[id] == nil {
			p[id] = new([64]byte)
		}
		for k := first; k <= last; k++ {
			p[id][k] = lacks + 1
		}
	}
}

// complete tells whether every coefficient of all components came to its last
// bit. Programs that repair a cut file put an end behind the scans that are
// left; what they show is half a picture.
func (p progress) complete(components int) bool {
	if len(p) < components {
		return false
	}
	for _, coefficients := range p {
		for _, lacks := range coefficients {
			if lacks != 1 {
				return false
			}
		}
	}
	return true
}
