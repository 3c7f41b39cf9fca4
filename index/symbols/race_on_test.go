//go:build race

package symbols

// raceDetector reports whether this is a build with the race detector, which takes several times the
// memory.
const raceDetector = true
