package symbols

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A grammar is C code: a fault in it ends the process that runs it, and nothing in Go can prevent
// that. So a program may have its grammars run in child processes, which are itself with one argument:
// it calls Work where it sees that argument, and UseWorkers elsewhere. A child that dies, or that does
// not answer, costs the file that it was reading its grammar, and nothing else.

const (
	// workerMemory bounds the private memory of a child, where the system can do so, in bytes. A file
	// of the largest size takes less than a fifth of it.
	workerMemory = 512 << 20
	// maxCrashes is how many children may die before the grammars are given up: a tree of such files is
	// hostile, and each costs two processes.
	maxCrashes = 50
	// maxBatch and maxBatchBytes bound what a child is sent in one go.
	maxBatch      = 16
	maxBatchBytes = 64 << 10
)

// workerPatience is how long a child may take beyond the time limit of its parser.
var workerPatience = 10 * time.Second

const (
	faultCrash  = "the grammar crashed"
	faultGiveUp = "the grammars crashed too often"
)

var workers atomic.Pointer[workerPool]

// UseWorkers has grammars run in children of this program, started with the argument. Where none can
// be started they run in this process. StopWorkers ends them.
func UseWorkers(argument string) {
	exe := "/proc/self/exe" // the same binary even when its file was replaced since
	if runtime.GOOS != "linux" {
		var err error
		if exe, err = os.Executable(); err != nil {
			return
		}
	}
	useWorkers(exe, []string{os.Args[0], argument})
}

func useWorkers(exe string, args []string) {
	StopWorkers()
	p := &workerPool{exe: exe, args: args, calls: make(chan *call, 256), spare: make(chan *worker, 1), quit: make(chan struct{})}
	for range runtime.GOMAXPROCS(0) {
		p.running.Go(p.run)
	}
	workers.Store(p)
}

// StopWorkers ends the children. Later calls of Extract parse in this process.
func StopWorkers() {
	if p := workers.Swap(nil); p != nil {
		close(p.quit)
		p.running.Wait()
		for {
			select {
			case c := <-p.calls:
				close(c.done)
			case w := <-p.spare:
				if w != nil {
					w.stop()
				}
			default:
				return
			}
		}
	}
}

// Jobs is how many goroutines should call Extract to keep n processors busy: children are sent what is
// waiting in one go, so a few more calls than processors wait at a time.
func Jobs(n int) int {
	if workers.Load() != nil {
		return 4 * n
	}
	return n
}

// Expect says that files in the language lang will come: where a child is to read them, one starts now,
// while they are looked for. It may be called any number of times.
func Expect(lang string) {
	if p := workers.Load(); p != nil && canParse(lang) && p.early.CompareAndSwap(false, true) {
		p.running.Go(func() {
			w, _ := p.start() // the first call says what is wrong
			p.spare <- w
		})
		runtime.Gosched() // let it: the caller may not wait for long
	}
}

// Crashed reports whether a fault says that a grammar's process died: that may have had another cause
// than the file, so it is not to be remembered for its content.
func Crashed(fault string) bool { return fault == faultCrash || fault == faultGiveUp }

type workerPool struct {
	exe     string
	args    []string
	calls   chan *call
	spare   chan *worker // the child that Expect started, for the first that needs one; nil if it could not
	early   atomic.Bool  // Expect has started it
	taken   atomic.Bool  // somebody waits for it, or has it
	quit    chan struct{}
	running sync.WaitGroup
	started atomic.Int32 // children
	crashes atomic.Int32
	broken  atomic.Bool // no child can be started
}

// call is one file on its way.
type call struct {
	lang string
	src  []byte
	b    *builder
	done chan string // gets the fault; closed without one when the file is to be read in this process
}

// isolated reads src by the grammar of lang, in a child where there are any.
func isolated(b *builder, lang string, src []byte) string {
	p := workers.Load()
	if p == nil || p.broken.Load() {
		return parse(b, lang, src)
	}
	c := &call{lang: lang, src: src, b: b, done: make(chan string, 1)}
	select {
	case p.calls <- c:
	case <-p.quit:
		return parse(b, lang, src)
	}
	if fault, ok := <-c.done; ok {
		return fault
	}
	return parse(b, lang, src)
}

// run serves calls by one child, which it starts at the first of them.
func (p *workerPool) run() {
	var w *worker
	batch := make([]*call, 0, maxBatch)
	defer func() {
		if w != nil {
			w.stop()
		}
	}()
	for {
		select {
		case c := <-p.calls:
			batch = append(batch[:0], c)
		case <-p.quit:
			return
		}
		for bytes := len(batch[0].src); len(batch) < maxBatch && bytes < maxBatchBytes; {
			select {
			case c := <-p.calls:
				batch, bytes = append(batch, c), bytes+len(c.src)
				continue
			default:
			}
			break
		}
		w = p.serve(w, batch)
	}
}

// serve answers the calls and returns the child that is to serve the next ones.
func (p *workerPool) serve(w *worker, batch []*call) *worker {
	w, err := p.ask(w, batch)
	if err == nil {
		return w
	}
	// One of them ended the child, or the child was ended from outside: each is tried alone, twice.
	for _, c := range batch {
		for try := 0; ; try++ {
			if w, err = p.ask(w, []*call{c}); err == nil {
				break
			}
			fault := faultCrash
			switch {
			case p.broken.Load():
				close(c.done)
			case errors.Is(err, errGiveUp):
				c.done <- faultGiveUp
			case errors.Is(err, os.ErrDeadlineExceeded):
				c.done <- "tree-sitter: stopped at the time limit"
			case try == 1:
				c.done <- fault
			default:
				continue
			}
			break
		}
	}
	return w
}

var errGiveUp = errors.New("too many children died")

// ask sends files to a child, a new one when w is nil, and hands on the answers. After an error nothing
// is handed on and the child is gone.
func (p *workerPool) ask(w *worker, batch []*call) (*worker, error) {
	if p.broken.Load() || p.crashes.Load() >= maxCrashes {
		if w != nil {
			w.stop()
		}
		return nil, errGiveUp
	}
	if w == nil && p.early.Load() && p.taken.CompareAndSwap(false, true) {
		w = <-p.spare
	}
	if w == nil {
		var err error
		if w, err = p.start(); err != nil {
			p.broken.Store(true)
			return nil, err
		}
	}
	if err := w.ask(batch); err != nil {
		w.stop()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			p.crashes.Add(1)
		}
		return nil, err
	}
	return w, nil
}

// worker is one child.
type worker struct {
	cmd  *exec.Cmd
	in   *os.File
	out  *os.File
	read *bufio.Reader
	buf  []byte
}

func (p *workerPool) start() (*worker, error) {
	in, w1, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r2, out, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		_ = w1.Close()
		return nil, err
	}
	// Nothing of the environment is handed on, and what a dying child prints is not wanted. A child reads
	// one file at a time: further threads would only cost.
	cmd := &exec.Cmd{Path: p.exe, Args: p.args, Env: []string{"GOMAXPROCS=1", "GOGC=800"}, Stdin: in, Stdout: out}
	p.started.Add(1)
	err = cmd.Start()
	_ = in.Close()
	_ = out.Close()
	if err != nil {
		_ = w1.Close()
		_ = r2.Close()
		return nil, err
	}
	return &worker{cmd: cmd, in: w1, out: r2, read: bufio.NewReaderSize(r2, 64<<10)}, nil
}

func (w *worker) stop() {
	_ = w.in.Close()
	_ = w.cmd.Process.Kill() // it may have ended
	_ = w.cmd.Wait()
	_ = w.out.Close()
}

func (w *worker) ask(batch []*call) error {
	patience := workerPatience
	for _, c := range batch {
		patience += c.b.limit
	}
	if err := w.out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	f := frame{b: append(w.buf[:0], 0, 0, 0, 0)}
	f.number(len(batch))
	for _, c := range batch {
		f.text(c.lang)
		f.number(int(c.b.limit.Microseconds()))
		f.bytes(c.src)
	}
	if err := f.write(w.in); err != nil {
		return err
	}
	var err error
	if f.b, err = readFrame(w.read, f.b); err != nil {
		return err
	}
	w.buf = f.b
	faults := make([]string, len(batch))
	found := make([]builder, len(batch))
	for i := range batch {
		faults[i] = f.getText()
		x := &found[i]
		for n := f.count(); len(x.symbols) < n && !f.bad; {
			x.symbols = append(x.symbols, Symbol{Name: f.getText(), Kind: Kind(f.getText()), Recv: f.getText(), Start: f.getInt(), End: f.getInt()})
		}
		for n := f.count(); len(x.imports) < n && !f.bad; {
			x.imports = append(x.imports, Import{Spec: f.getText(), Line: f.getInt()})
		}
	}
	if f.bad || len(f.b) != f.at {
		return errFrame
	}
	for i, c := range batch {
		c.b.symbols, c.b.imports = found[i].symbols, found[i].imports
		c.done <- faults[i]
	}
	return nil
}
