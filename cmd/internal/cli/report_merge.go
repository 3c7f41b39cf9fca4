package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/index/store"
)

func newReport(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Work on written results",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newReportMerge(app))
	return cmd
}

func newReportMerge(app *App) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Join the parts of a sharded eval or bench into the whole run's JSON",
		Long: `Join the parts of a sharded eval or bench into the whole run's JSON.

The parts are the JSON of eval --shard i/n or bench --shard i/n for every i, in any order. The result
is, timings apart, byte for byte what one run without --shard writes. A part that is missing, doubled
or of another run is exit code 2. With the flags of a gate the whole is judged as eval judges it.`,
	}
	flags := gateFlags(cmd, mergeBars)
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file instead of standard output")
	cmd.RunE = func(_ *cobra.Command, files []string) error {
		return runMerge(app, files, output, flags())
	}
	return cmd
}

func runMerge(app *App, files []string, output string, o gateOptions) error {
	if len(files) == 0 {
		return errors.New("name the JSON files of all shards")
	}
	if len(files) > bench.MaxShards {
		return fmt.Errorf("%d files: at most %d", len(files), bench.MaxShards)
	}
	g, err := o.open()
	if err != nil {
		return err
	}
	var parts []bench.Part
	for _, f := range files {
		data, err := store.ReadFile(f, bench.MaxPart)
		if err != nil {
			return err
		}
		parts = append(parts, bench.Part{Name: f, Data: data})
	}
	whole, err := bench.Merge(parts)
	if err != nil {
		return err
	}
	whole, verdict, fault := judgeMerged(whole, g)
	if whole == nil {
		return fault
	}
	if output != "" {
		err = store.WriteFile(output, whole, 0o644)
	} else {
		_, err = io.Copy(app.Out, bytes.NewReader(whole))
	}
	switch {
	case err != nil:
		return err
	case fault != nil:
		return fault
	}
	return app.exit(verdict)
}

// judgeMerged puts a gate's verdict into a joined result; without a gate the result is unchanged.
// Failed cases, or none at all, are the error that they are in a whole run, beside the result.
func judgeMerged(whole []byte, g *gate) ([]byte, *bench.Verdict, error) {
	var head struct{ Kind string }
	if err := json.Unmarshal(whole, &head); err != nil {
		return nil, nil, err
	}
	switch head.Kind {
	case "eval":
		r := new(bench.EvalResult)
		return judgeAs(whole, g, r, &r.Gate, r.Baseline, func() error { return measured(nil, r.Cases, 0, r.Failed) })
	case "replay":
		r := new(bench.ReplayResult)
		return judgeAs(whole, g, r, &r.Gate, r.Baseline, func() error { return measured(nil, r.Cases, r.Skipped, r.Failed) })
	case "bench":
		r := new(bench.BenchResult)
		return judgeAs(whole, g, r, &r.Gate, r.Baseline, func() error { return failedEngines(r) })
	}
	return nil, nil, fmt.Errorf("cannot judge a result of kind %q", head.Kind)
}

func judgeAs[T any](whole []byte, g *gate, r *T, verdict **bench.Verdict, current func() *bench.Baseline, faults func() error) ([]byte, *bench.Verdict, error) {
	if err := json.Unmarshal(whole, r); err != nil {
		return nil, nil, err
	}
	if err := faults(); err != nil || !g.active() {
		return whole, nil, err
	}
	var err error
	if *verdict, err = g.judge(current()); err != nil {
		return nil, nil, err
	}
	out, err := bench.Encode(r)
	return out, *verdict, err
}
