package symbols

import (
	"bufio"
	"errors"
	"io"
	"time"
)

// beforeParse, in tests, does in a child what a grammar might.
var beforeParse func(src []byte)

// Work is the child: it answers requests until its input ends. A request is a frame of a number of files,
// each its language, its time limit in microseconds and its source; the answer is a frame with the fault, the
// symbols and the imports of each.
func Work(in io.Reader, out io.Writer) error {
	limitOwnMemory(workerMemory)
	return work(in, out)
}

func work(in io.Reader, out io.Writer) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var f, a frame
	for {
		var err error
		if f.b, err = readFrame(r, f.b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		f.at, f.bad = 0, false
		a.b = append(a.b[:0], 0, 0, 0, 0)
		for range f.count() {
			if err := a.parse(&f); err != nil {
				return err
			}
		}
		if err := a.write(out); err != nil {
			return err
		}
	}
}

// parse answers the next file of a request.
func (a *frame) parse(f *frame) error {
	lang := f.getText()
	b := builder{limit: time.Duration(f.getInt()) * time.Microsecond}
	src := f.getBytes()
	if f.bad {
		return errFrame
	}
	fault := "no grammar for " + lang
	if canParse(lang) {
		if beforeParse != nil {
			beforeParse(src)
		}
		fault = parse(&b, lang, src)
	}
	a.text(fault)
	a.number(len(b.symbols))
	for _, s := range b.symbols {
		a.text(s.Name)
		a.text(string(s.Kind))
		a.text(s.Recv)
		a.number(s.Start)
		a.number(s.End)
	}
	a.number(len(b.imports))
	for _, i := range b.imports {
		a.text(i.Spec)
		a.number(i.Line)
	}
	return nil
}
