package cli

import (
	"bytes"
	"testing"
	"time"
)

// TestTicking rewrites one line at each tick and clears it; work that ends before the first says nothing.
func TestTicking(t *testing.T) {
	var w bytes.Buffer
	tick := make(chan time.Time)
	finish := ticking(&w, "reading", tick)
	tick <- time.Time{}
	tick <- time.Time{}
	finish()
	if got := w.String(); got != "\r\x1b[Kctxt: reading, 1 s\r\x1b[Kctxt: reading, 2 s\r\x1b[K" {
		t.Errorf("%q", got)
	}
	w.Reset()
	ticking(&w, "reading", tick)()
	seconds(&w, "reading")()
	if w.Len() > 0 {
		t.Errorf("quick work wrote %q", w.String())
	}
}
