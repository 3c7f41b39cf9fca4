// Command ctxt ranks, selects, measures and assesses; see README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ctxt-dev/ctxt/cmd/internal/cli"
)

func main() {
	spareGC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.LookupEnv)
	stop()
	os.Exit(code)
}
