package pngwrite

import _ "github.com/klauspost/compress/flate" // what rows are packed with
