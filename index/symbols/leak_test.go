package symbols

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain turns the test program into a child that runs grammars when it is started as one, and fails
// the package when a goroutine outlives its tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childArgument {
		beforeParse = misbehave
		if Work(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
