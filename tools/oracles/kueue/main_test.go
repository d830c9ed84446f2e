package main

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// folder holds the commented cases, which the tests of the project read too.
var folder = filepath.FromSlash("../../../tests/kueue/cases")

var update = flag.Bool("update", false, "write the expected answers")

// TestCases replays the commented cases: each .yaml holds one case, and .expected.json beside it the answer. Those in podsets/ are for the
// command podsets, the others for schedule.
func TestCases(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	scheme := newScheme()
	n := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		n++
		name := filepath.ToSlash(strings.TrimSuffix(strings.TrimPrefix(path, folder+string(filepath.Separator)), ".yaml"))
		t.Run(name, func(t *testing.T) {
			in, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			var got []byte
			err = eachDocument(in, func(data []byte) error {
				if strings.HasPrefix(name, "podsets/") {
					got = encode(answerPodSets(data, scheme), "  ")
				} else {
					got = encode(answerRepeatedly(data, scheme, 2), "  ")
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			expected := strings.TrimSuffix(path, ".yaml") + ".expected.json"
			if *update {
				if err := os.WriteFile(expected, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(expected)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if bytes.Contains(got, []byte("\n  \"unstable\"")) || bytes.Contains(got, []byte("\n  \"error\"")) {
				t.Errorf("not an answer:\n%s", got)
			}
			if !bytes.Contains(got, []byte(`"name": "`+name+`"`)) {
				t.Errorf("the case is not named after its file")
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Fatal("no cases")
	}
}
