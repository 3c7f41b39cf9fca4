package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressBar shows progress on standard error when that is a terminal, and nothing otherwise. The
// first function reports it, the second removes the bar.
func (app *App) progressBar(what string) (report func(done, total int), finish func()) {
	f, ok := app.Err.(*os.File)
	if app.Quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	report = func(done, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what),
				progressbar.OptionSetWidth(30), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set(done)
	}
	return report, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}

// working says on a terminal's standard error what takes long, and for how long it has; a second passes before
// it says anything. The function that it returns takes the line away.
func (app *App) working(what string) (finish func()) {
	f, ok := app.Err.(*os.File)
	if app.Quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	return seconds(f, what)
}

// seconds is ticking by the clock.
func seconds(w io.Writer, what string) (finish func()) {
	tick := time.NewTicker(time.Second)
	end := ticking(w, what, tick.C)
	return func() {
		tick.Stop()
		end()
	}
}

// ticking rewrites one line at every tick, and clears it in the end.
func ticking(w io.Writer, what string, tick <-chan time.Time) (finish func()) {
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for n := 1; ; n++ {
			select {
			case <-tick:
				_, _ = fmt.Fprintf(w, "\r\x1b[Kctxt: %s, %d s", what, n)
			case <-stop:
				if n > 1 {
					_, _ = io.WriteString(w, "\r\x1b[K")
				}
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}
