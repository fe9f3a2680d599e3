package pngread

func unSub(row []byte, size int)            { unSubScalar(row, size) }
func unUp(row, above []byte)                { unUpScalar(row, above) }
func unAverage(row, above []byte, size int) { unAverageScalar(row, above, size) }
func unPaeth(row, above []byte, size int)   { unPaethScalar(row, above, size) }
