package risk

import "math"

// Products are rounded before they are added (float64(x*y)), so that no processor fuses the two.

// fitLogistic fits a logistic regression by Newton's method with a ridge penalty towards prior (nil:
// towards zero). Column 0 is the constant and is not penalised. The same rows in the same order give
// the same bytes. It returns nil when there is nothing to tell apart.
func fitLogistic(rows [][]float64, positive []bool, ridge float64, prior []float64) []float64 {
	n := 0
	for _, y := range positive {
		if y {
			n++
		}
	}
	if n == 0 || n == len(rows) {
		return nil
	}
	k := len(rows[0])
	w := make([]float64, k)
	if prior == nil {
		prior = make([]float64, k)
	}
	copy(w, prior)
	for range 25 {
		h, g := newtonSystem(rows, positive, w, ridge, prior)
		step, ok := solve(h, g)
		if !ok {
			return nil
		}
		largest := 0.0
		for i := range w {
			w[i] += min(max(step[i], -4), 4)
			largest = max(largest, math.Abs(step[i]))
		}
		if largest < 1e-6 {
			break
		}
	}
	return w
}

// newtonSystem gives the Hessian (lower triangle mirrored) and the gradient of the penalised log-likelihood.
func newtonSystem(rows [][]float64, positive []bool, w []float64, ridge float64, prior []float64) (h [][]float64, g []float64) {
	k := len(w)
	g = make([]float64, k)
	h = make([][]float64, k)
	for i := range h {
		h[i] = make([]float64, k)
		pull := ridge
		if i == 0 {
			pull = 1e-6
		}
		h[i][i] = pull
		g[i] = -pull * (w[i] - prior[i])
	}
	for r, x := range rows {
		p := sigmoid(dot(w, x))
		d := -p
		if positive[r] {
			d = 1 - p
		}
		v := p*(1-p) + 1e-9
		for i, xi := range x {
			if xi == 0 {
				continue
			}
			g[i] += float64(d * xi)
			hi, vx := h[i], v*xi
			for j := 0; j <= i; j++ {
				hi[j] += float64(vx * x[j])
			}
		}
	}
	for i := range h {
		for j := i + 1; j < k; j++ {
			h[i][j] = h[j][i]
		}
	}
	return h, g
}

// solve solves a·x = b by Gaussian elimination with partial pivoting; it overwrites both.
func solve(a [][]float64, b []float64) ([]float64, bool) {
	n := len(b)
	for i := range n {
		p := i
		for k := i + 1; k < n; k++ {
			if math.Abs(a[k][i]) > math.Abs(a[p][i]) {
				p = k
			}
		}
		a[i], a[p] = a[p], a[i]
		b[i], b[p] = b[p], b[i]
		if math.Abs(a[i][i]) < 1e-12 {
			return nil, false
		}
		for k := i + 1; k < n; k++ {
			f := a[k][i] / a[i][i]
			if f == 0 {
				continue
			}
			for j := i; j < n; j++ {
				a[k][j] -= float64(f * a[i][j])
			}
			b[k] -= float64(f * b[i])
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		s := b[i]
		for j := i + 1; j < n; j++ {
			s -= float64(a[i][j] * x[j])
		}
		x[i] = s / a[i][i]
	}
	return x, true
}

func dot(w, x []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += float64(w[i] * v)
	}
	return s
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// logOdds is ln(p/(1-p)), p clipped to [0.005, 0.995].
func logOdds(p float64) float64 {
	p = min(max(p, 0.005), 0.995)
	return math.Log(p / (1 - p))
}

// wilson is the lower bound of a share, j of n, at one standard error (Wilson 1927).
func wilson(j, n float64) float64 {
	if n <= 0 {
		return 0
	}
	p := j / n
	return max(0, (p+1/(2*n)-math.Sqrt(p*(1-p)/n+1/(4*n*n)))/(1+1/n))
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
