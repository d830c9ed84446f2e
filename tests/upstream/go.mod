module trainyard.dev/tests/upstream

go 1.25

require (
	k8s.io/apimachinery v0.35.4
	sigs.k8s.io/yaml v1.6.0
)
