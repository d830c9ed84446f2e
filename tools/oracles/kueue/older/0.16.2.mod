// Kueue 0.16.2 is a Go module that needs its own releases of other projects; those of the newest oracle are too new.
module trainyard.dev/oracles/kueue-oracle

go 1.26.0

require sigs.k8s.io/kueue v0.16.2
