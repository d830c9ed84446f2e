package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder holds the commented cases, which the tests of the project read too.
var folder = filepath.FromSlash("../../../tests/kubelet/cases")

var update = flag.Bool("update", false, "write the expected answers")

// TestCases replays the commented cases: each .yaml holds one case, and .expected.json beside it the answer.
func TestCases(t *testing.T) {
	silence()
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
				d := json.NewDecoder(bytes.NewReader(encode(answerRepeatedly(data, 3))))
				d.UseNumber()
				got = append(got, readable(d, "")+"\n"...)
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
			if bytes.Contains(got, []byte(`"unstable": true`)) || bytes.Contains(got, []byte(`"error": "`)) {
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

// readable writes the next value of d with lists and objects on one line where they fit.
func readable(d *json.Decoder, indent string) string {
	token, err := d.Token()
	if err != nil {
		panic(err)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return strings.TrimSpace(string(encode(token)))
	}
	var items []string
	for d.More() {
		item := ""
		if open == '{' {
			item = readable(d, "") + ": "
		}
		items = append(items, item+readable(d, indent+"  "))
	}
	shut, _ := d.Token()
	line := strings.Join(items, ", ")
	if len(indent)+len(line) < 140 && !strings.Contains(line, "\n") {
		return fmt.Sprintf("%v%s%v", open, line, shut)
	}
	return fmt.Sprintf("%v\n%s  %s\n%s%v", open, indent, strings.Join(items, ",\n"+indent+"  "), indent, shut)
}
