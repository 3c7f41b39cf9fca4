// Package sample is a sample.
package sample

import (
	"context"
	_ "embed"
	alias "example.com/mod/pkg"
	"fmt"
)

import "os"

const Single = 1

const (
	A = iota
	B
	_
)

var (
	x, y  int
	table = map[string]int{
		"a": 1,
	}
)

// Doc comment.
type Point struct {
	X, Y int
	*Embedded
	Name string `json:"name"`
}

type Shape interface {
	Area() float64
	fmt.Stringer
}

type (
	ID          string
	Alias       = Point
	List[T any] []T
)

// Doc.
func Main(ctx context.Context) error {
	type local struct{ a int }
	const inner = 1
	f := func() {}
	f()
	return nil
}

func (p *Point) Move(dx int) {
	p.X += dx
}

func (l List[T]) Len() int { return len(l) }

func init() {}
