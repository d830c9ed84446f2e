package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

// Case is one question: a chart of the folder, and what its release is given.
type Case struct {
	Name        string         `json:"name"`
	Chart       string         `json:"chart"`       // <name>/<version> below the folder of charts
	Release     string         `json:"release"`     // by default the name of the chart
	Namespace   string         `json:"namespace"`   // by default `default`
	Values      map[string]any `json:"values"`      // over those of the chart
	KubeVersion string         `json:"kubeVersion"` // of the server, by default the one that Helm assumes
	APIVersions []string       `json:"apiVersions"` // that the server has beside those that Helm assumes
	CRDs        bool           `json:"crds"`        // whether to answer what is in crds/, too
	Kinds       []string       `json:"kinds"`       // answer objects of these kinds alone
}

// Result is one answer: objects in the order of their files, or why Helm refuses.
type Result struct {
	Name    string           `json:"name,omitempty"`
	Objects []map[string]any `json:"objects"`
	Error   string           `json:"error,omitempty"`
	Missing []string         `json:"missing,omitempty"` // charts inside this one that are turned on and not in its folder
}

// answer runs one case.
func answer(line []byte, folder string) *Result {
	var c Case
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	decoder.UseNumber() // 1 stays 1, as in a file of values
	if err := decoder.Decode(&c); err != nil {
		return &Result{Error: "case: " + err.Error(), Objects: []map[string]any{}}
	}
	values, err := numbers(c.Values)
	if err != nil {
		return &Result{Name: c.Name, Error: err.Error(), Objects: []map[string]any{}}
	}
	c.Values = values
	objects, missing, err := render(&c, folder)
	result := &Result{Name: c.Name, Objects: objects, Missing: missing}
	if objects == nil {
		result.Objects = []map[string]any{}
	}
	if err != nil {
		result.Error = strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), "")
	}
	return result
}

// numbers reads values as Helm reads a file of them: whole numbers of a file are floats in templates.
func numbers(values map[string]any) (map[string]any, error) {
	data, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	found := map[string]any{}
	err = yaml.Unmarshal(data, &found)
	return found, err
}

// render does what `helm template` does, without a server.
func render(c *Case, folder string) ([]map[string]any, []string, error) {
	if !filepath.IsLocal(filepath.FromSlash(c.Chart)) {
		return nil, nil, fmt.Errorf("chart %q is not <name>/<version>", c.Chart)
	}
	loaded, err := loader.LoadDir(filepath.Join(folder, filepath.FromSlash(c.Chart)))
	if err != nil {
		return nil, nil, err
	}
	capabilities, err := capabilities(c)
	if err != nil {
		return nil, nil, err
	}
	if wanted := loaded.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, capabilities.KubeVersion.String()) {
		return nil, nil, fmt.Errorf("chart requires kubeVersion %s, which is incompatible with %s", wanted, capabilities.KubeVersion)
	}
	declared := loaded.Metadata.Dependencies
	if err := chartutil.ProcessDependenciesWithMerge(loaded, c.Values); err != nil {
		return nil, nil, err
	}
	missing := missing(loaded, declared)
	options := chartutil.ReleaseOptions{Name: c.Release, Namespace: c.Namespace, Revision: 1, IsInstall: true}
	if options.Name == "" {
		options.Name = loaded.Name()
	}
	if options.Namespace == "" {
		options.Namespace = "default"
	}
	given, err := chartutil.ToRenderValues(loaded, c.Values, options, capabilities)
	if err != nil {
		return nil, missing, err
	}
	files, err := engine.Render(loaded, given)
	if err != nil {
		return nil, missing, err
	}
	objects, err := parse(loaded, files, c)
	return objects, missing, err
}

// capabilities returns what the server of a case has.
func capabilities(c *Case) (*chartutil.Capabilities, error) {
	found := chartutil.DefaultCapabilities.Copy()
	if c.KubeVersion != "" {
		version, err := chartutil.ParseKubeVersion(c.KubeVersion)
		if err != nil {
			return nil, err
		}
		found.KubeVersion = *version
	}
	found.APIVersions = append(found.APIVersions, c.APIVersions...)
	return found, nil
}

// missing returns the charts inside a chart that are turned on and not there.
func missing(loaded *chart.Chart, declared []*chart.Dependency) []string {
	var found []string
	for _, dependency := range declared {
		there := slices.ContainsFunc(loaded.Dependencies(), func(inner *chart.Chart) bool { return inner.Name() == dependency.Name })
		if dependency.Enabled && !there {
			found = append(found, dependency.Name)
		}
	}
	return found
}

// parse reads the objects of rendered files, sorted by name; hooks are among them.
func parse(loaded *chart.Chart, files map[string]string, c *Case) ([]map[string]any, error) {
	if c.CRDs {
		for _, crd := range loaded.CRDObjects() {
			files[crd.Filename] = string(crd.File.Data)
		}
	}
	names := make([]string, 0, len(files))
	for name := range files {
		if base := filepath.Base(name); base != "NOTES.txt" && !strings.HasPrefix(base, "_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	found := []map[string]any{}
	for _, name := range names {
		documents := releaseutil.SplitManifests(files[name])
		for index := range len(documents) {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(documents[fmt.Sprintf("manifest-%d", index)]), &object); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if kind, _ := object["kind"].(string); object != nil && (len(c.Kinds) == 0 || slices.Contains(c.Kinds, kind)) {
				found = append(found, object)
			}
		}
	}
	return found, nil
}
