package cli

import (
	"os"

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
