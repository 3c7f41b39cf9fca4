package git

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/ianaindex"
)

// maxMessage is how much of a commit message is kept, in bytes.
const maxMessage = 1 << 20

// rawCommit is a parsed commit object.
type rawCommit struct {
	tree    Hash
	parents []Hash
	author  string // name
	email   string
	date    uint64 // committer time, for ordering
	message string
}

// parseCommit reads a commit object as git log does: text after a NUL byte is not seen, the text is
// converted from the encoding that the commit names, and what is still not UTF-8 is replaced.
func parseCommit(h Hash, data []byte) (*rawCommit, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		data = data[:i]
	}
	c := &rawCommit{}
	head, message, _ := bytes.Cut(data, []byte("\n\n"))
	var author, committer, encoding []byte
	for line := range bytes.Lines(head) {
		key, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		switch key := string(key); {
		case key == "tree" && author == nil:
			t, err := ParseHash(string(value))
			if err != nil {
				return nil, fmt.Errorf("commit %s: tree: %w", h, err)
			}
			c.tree = t
		case key == "parent" && author == nil:
			p, err := ParseHash(string(value))
			if err != nil {
				return nil, fmt.Errorf("commit %s: parent: %w", h, err)
			}
			c.parents = append(c.parents, p)
		case key == "author" && author == nil:
			author = value
		case key == "committer" && committer == nil:
			committer = value
		case key == "encoding" && encoding == nil:
			encoding = value
		}
	}
	name, mail, _ := splitIdent(author)
	_, _, date := splitIdent(committer)
	c.author = cleanText(decode(name, string(encoding)))
	c.email = strings.ToLower(cleanText(decode(mail, string(encoding))))
	c.date = parseDate(date)
	c.message = cleanMessage(decode(message, string(encoding)))
	return c, nil
}

// splitIdent splits "NAME <MAIL> SECONDS ZONE" as git does: the mail ends at the first '>' after
// the first '<', and the date is found after the last '>'. A line of another form gives nothing.
func splitIdent(line []byte) (name, mail, date []byte) {
	lt := bytes.IndexByte(line, '<')
	if lt < 0 {
		return nil, nil, nil
	}
	gt := bytes.IndexByte(line[lt:], '>')
	if gt < 0 {
		return nil, nil, nil
	}
	name = bytes.TrimRight(line[:lt], " \t\n\v\f\r")
	mail = line[lt+1 : lt+gt]
	rest := bytes.TrimLeft(line[bytes.LastIndexByte(line, '>')+1:], " \t\n\v\f\r")
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	return name, mail, rest[:n]
}

// parseDate reads seconds; none is 0, and a number beyond 64 bits the largest.
func parseDate(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil {
		return math.MaxUint64
	}
	return n
}

// clampTime makes a time of a commit's date: at most the end of the year 9999.
func clampTime(date uint64) int64 { return int64(min(date, 253402300799)) }

// decode converts b from the named encoding to UTF-8; b is returned as it is where the name is
// unknown or the text does not fit it.
func decode(b []byte, encoding string) []byte {
	if encoding == "" || strings.EqualFold(encoding, "UTF-8") || strings.EqualFold(encoding, "utf8") {
		return b
	}
	e, err := ianaindex.MIME.Encoding(encoding)
	if err != nil || e == nil {
		return b
	}
	out, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return b
	}
	return out
}

func cleanText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// cleanMessage cuts a message to maxMessage, drops blank lines around it and makes it UTF-8.
func cleanMessage(b []byte) string {
	if len(b) > maxMessage {
		b = b[:maxMessage]
	}
	return strings.TrimRight(strings.TrimLeft(cleanText(b), "\r\n"), " \t\r\n")
}

// commit makes the public form of a parsed commit; a boundary commit of a shallow clone has no parents.
func (r *Repo) commit(h Hash, c *rawCommit) Commit {
	out := Commit{Hash: h, Parents: c.parents, Author: c.author, Email: c.email, Time: clampTime(c.date), Message: c.message}
	if r.shallow[h] {
		out.Parents, out.Boundary = nil, true
	}
	return out
}

// CommitInfo reads one commit, without its changes.
func (r *Repo) CommitInfo(ctx context.Context, h Hash) (Commit, error) {
	c, err := r.rawCommit(ctx, h)
	if err != nil {
		return Commit{}, err
	}
	return r.commit(h, c), nil
}

func (r *Repo) rawCommit(ctx context.Context, h Hash) (*rawCommit, error) {
	all, err := r.rawCommits(ctx, []Hash{h})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func (r *Repo) rawCommits(ctx context.Context, hashes []Hash) ([]*rawCommit, error) {
	s, err := r.session(ctx, true)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return readCommits(s, hashes)
}

func readCommits(s objectSession, hashes []Hash) ([]*rawCommit, error) {
	out := make([]*rawCommit, len(hashes))
	err := s.read(hashes, maxObject, func(i int, k kind, data []byte, err error) error {
		if err == nil && k != kindCommit {
			err = fmt.Errorf("object %s is not a commit", hashes[i])
		}
		if err == nil {
			out[i], err = parseCommit(hashes[i], data)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read commit: %w", err)
	}
	return out, nil
}
