// Package bench holds metrics, baselines, comparison and the joining of shards.
package bench

// Metrics are means over cases, each in [0,1] unless its name says otherwise.
type Metrics struct {
	Hit1        float64 `json:"hit_at_1"`
	Hit5        float64 `json:"hit_at_5"`
	Hit10       float64 `json:"hit_at_10"`
	MRR         float64 `json:"mrr"`
	Recall10    float64 `json:"recall_at_10"`
	Recall25    float64 `json:"recall_at_25"`
	All10       float64 `json:"all_at_10"`
	BundleRec   float64 `json:"bundle_recall"`
	BundleAll   float64 `json:"bundle_all"`
	HunkRec     float64 `json:"hunk_recall"`
	TokensMean  float64 `json:"bundle_tokens_mean"`
	BundleFiles float64 `json:"bundle_files_mean"`
}
