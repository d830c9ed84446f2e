package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files of a chart with a definition, a template, a switch of the server and a chart inside that is not there.
var files = map[string]string{
	"Chart.yaml":           `{apiVersion: v2, name: some, version: 1.2.3, kubeVersion: ">=1.20.0", dependencies: [{name: inner, version: 1.0.0, condition: inner.enabled}]}`,
	"values.yaml":          `{size: 1, words: {a: b}, inner: {enabled: false}}`,
	"values.schema.json":   `{"type": "object", "properties": {"size": {"type": "integer"}}}`,
	"crds/thing.yaml":      `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}}`,
	"templates/_names.tpl": `{{ define "name" }}{{ .Release.Name }}-{{ .Chart.Version }}{{ end }}`,
	"templates/NOTES.txt":  `installed`,
	"templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ include "name" . }}, namespace: {{ .Release.Namespace }}}
data: {size: {{ .Values.size | quote }}, words: {{ toJson .Values.words | quote }}}
---
{{ if .Capabilities.APIVersions.Has "example.com/v1" }}
apiVersion: example.com/v1
kind: Thing
{{ end }}`,
}

// TestAnswers asks about that chart.
func TestAnswers(t *testing.T) {
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, "some", "1.2.3", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plain := `{"name":"x","objects":[{"apiVersion":"v1","data":{"size":"1","words":"{\"a\":\"b\"}"},"kind":"ConfigMap","metadata":{"name":"some-1.2.3","namespace":"default"}}]}`
	for _, row := range [][2]string{
		{`{"name":"x","chart":"some/1.2.3"}`, plain},
		{`{"name":"x","chart":"some/1.2.3","values":{"size":7,"words":{"a":null}},"release":"r","namespace":"there"}`,
			`{"name":"x","objects":[{"apiVersion":"v1","data":{"size":"7","words":"{}"},"kind":"ConfigMap","metadata":{"name":"r-1.2.3","namespace":"there"}}]}`},
		{`{"chart":"some/1.2.3","apiVersions":["example.com/v1"],"kinds":["Thing"]}`, `{"objects":[{"apiVersion":"example.com/v1","kind":"Thing"}]}`},
		{`{"chart":"some/1.2.3","crds":true,"kinds":["CustomResourceDefinition"]}`, `"name":"things.example.com"`},
		{`{"chart":"some/1.2.3","kinds":["Thing"],"values":{"inner":{"enabled":true}}}`, `{"objects":[],"missing":["inner"]}`},
		{`{"chart":"some/1.2.3","values":{"size":"x"}}`, `got string, want integer`},
		{`{"chart":"some/1.2.3","kubeVersion":"1.19.0"}`, `chart requires kubeVersion >=1.20.0`},
		{`{"chart":"../some"}`, `is not <name>/<version>`},
		{`{"chart":"other/1.0.0"}`, `"error":`},
		{`{"chrt":"some"}`, `unknown field`},
	} {
		var out strings.Builder
		if err := run(strings.NewReader(row[0]+"\n\n"), &out, folder); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), row[1]) || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%s\n got %s\nwant %s", row[0], out.String(), row[1])
		}
	}
}
