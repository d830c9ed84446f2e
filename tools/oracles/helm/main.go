// helm-oracle answers what a chart makes of values with Helm's own code, in one process and without a cluster. See README.md.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
)

const usage = `usage: helm-oracle [CHARTS] < cases

CHARTS is a folder of charts, <name>/<version>/Chart.yaml, by default $ORACLES_CHARTS, else that of make oracles.
A case is a line of JSON; an answer is one too, in the same order.`

func main() {
	log.SetOutput(io.Discard) // Helm warns there of values that the chart does not know; cases ask for objects.
	folder := charts()
	if len(os.Args) == 2 {
		folder = os.Args[1]
	}
	if len(os.Args) > 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err := run(os.Stdin, os.Stdout, filepath.Clean(folder)); err != nil {
		fmt.Fprintln(os.Stderr, "helm-oracle:", err)
		os.Exit(1)
	}
}

// charts returns the folder of charts that is told by the environment, or that of make oracles.
func charts() string {
	if folder := os.Getenv("ORACLES_CHARTS"); folder != "" {
		return folder
	}
	home := os.Getenv("ORACLES_HOME")
	if home == "" {
		own, _ := os.UserHomeDir()
		home = filepath.Join(own, ".cache", "trainyard-oracles")
	}
	return filepath.Join(home, "charts")
}

// run answers each line.
func run(in io.Reader, out io.Writer, folder string) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if _, failed := out.Write(encode(answer(line, folder))); failed != nil {
				return failed
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// encode writes v as one line, with < and > as they are.
func encode(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // What was read from YAML as JSON can be written as JSON.
	}
	return out.Bytes()
}
