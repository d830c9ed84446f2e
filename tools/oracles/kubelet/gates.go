package main

import (
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// Gate is a feature gate of the kubelet.
type Gate struct {
	Stage   string   `json:"stage"`
	Default bool     `json:"default"`
	Locked  bool     `json:"locked,omitempty"`
	Needs   []string `json:"needs,omitempty"`
}

var stages = map[string]string{"": "stable"}

// featureGates returns all gates by name. Before 1.35 no gate needs another.
func featureGates() map[string]Gate {
	gates := utilfeature.DefaultMutableFeatureGate
	found := map[string]Gate{}
	for name, spec := range gates.GetAll() {
		stage := string(spec.PreRelease)
		if said, ok := stages[stage]; ok {
			stage = said
		}
		found[string(name)] = Gate{Stage: stage, Default: spec.Default, Locked: spec.LockToDefault}
	}
	if known, ok := any(gates).(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}); ok {
		for name, needed := range known.Dependencies() {
			gate := found[string(name)]
			for _, one := range needed {
				gate.Needs = append(gate.Needs, string(one))
			}
			slices.Sort(gate.Needs)
			found[string(name)] = gate
		}
	}
	return found
}
