package report

// HTML is a placeholder replaced below.
func HTML(r *Report) string { return "" }
