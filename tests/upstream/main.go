// Asks upstream's own code what the tests in tests/data hold ours to.
//
//	go mod tidy && go build -o upstream . && ./upstream yaml < ../data/yaml_go.jsonl > new.jsonl
//
// Each line read has a text, each line written has that text and upstream's answer; `quantities` and `durations`
// likewise. To add a case, add a line with its text.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	kjson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

type row struct {
	Text string  `json:"text"`
	Go   [][]any `json:"go"`
}

// documents returns for each document that is not null: ok with its value, strict (refused in strict decoding), or err.
func documents(text string) [][]any {
	out := [][]any{}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		part, err := reader.Read()
		if err == io.EOF {
			return out
		}
		if err != nil {
			return append(out, []any{"err"})
		}
		var value any
		data, err := yaml.YAMLToJSON(part)
		if err == nil {
			err = kjson.Unmarshal(data, &value)
		}
		_, strict := yaml.YAMLToJSONStrict(part)
		switch {
		case err != nil:
			out = append(out, []any{"err"})
		case value == nil:
		case strict != nil:
			out = append(out, []any{"strict"})
		default:
			out = append(out, []any{"ok", typed(value)})
		}
	}
}

// typed spells floats so that every reader of JSON takes them for floats.
func typed(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = typed(value[key])
		}
	case []any:
		for index := range value {
			value[index] = typed(value[index])
		}
	case float64:
		text := strconv.FormatFloat(value, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return json.RawMessage(text)
	}
	return value
}

// quantity returns the error, or spelling, format, order against 1Gi, and rounded values where they fit.
func quantity(text string) []any {
	parsed, err := resource.ParseQuantity(text)
	if err != nil {
		return []any{text, err.Error()}
	}
	spelled := parsed.DeepCopy()
	out := []any{text, spelled.String(), string(parsed.Format), parsed.Cmp(resource.MustParse("1Gi"))}
	if value := parsed.AsApproximateFloat64(); value >= 0 && value < 1<<52 {
		out = append(out, parsed.Value(), parsed.MilliValue())
	}
	return out
}

func duration(text string) []any {
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return []any{text, err.Error()}
	}
	return []any{text, int64(parsed), parsed.String()}
}

func answer(mode string, line []byte) any {
	if mode == "yaml" {
		var case_ row
		check(json.Unmarshal(line, &case_))
		return row{case_.Text, documents(case_.Text)}
	}
	var case_ []any
	check(json.Unmarshal(line, &case_))
	if mode == "quantities" {
		return quantity(case_[0].(string))
	}
	return duration(case_[0].(string))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		check(encoder.Encode(answer(os.Args[1], lines.Bytes())))
		os.Stdout.Write(out.Bytes())
	}
	check(lines.Err())
}
