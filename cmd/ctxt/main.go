// Command ctxt ranks, selects, measures and assesses; see README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ctxt-dev/ctxt/cmd/internal/cli"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// parseArgument starts a child that runs the grammars; see package symbols.
const parseArgument = "__parse"

func main() { os.Exit(run(os.Args[1:])) }

// run is the whole program but its exit.
func run(args []string) int {
	if len(args) == 1 && args[0] == parseArgument {
		signal.Ignore(os.Interrupt) // a terminal sends it to children too; this one ends with its input
		if err := symbols.Work(os.Stdin, os.Stdout); err != nil {
			return cli.ExitError
		}
		return cli.ExitOK
	}
	symbols.UseWorkers(parseArgument)
	defer symbols.StopWorkers()
	spareGC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Main(ctx, args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.LookupEnv)
}
