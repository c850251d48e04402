// Stands in for `helm template` where there is no helm: Debian has none, but has the libraries that helm is made of (text/template, sprig,
// gojsonschema). Reads a chart and value files, checks the values against values.schema.json, renders. Of helm's functions it
// has include, required, fail, tpl, toYaml, fromYaml and toJson; of its objects Values, Chart, Release, Files.Get, Template and
// Capabilities.KubeVersion. What is not here is an error, never nothing.
//
//	main CHART RELEASE NAMESPACE [VALUE-FILE...]
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
	"github.com/xeipuuv/gojsonschema"
)

type values = map[string]interface{}

// files is .Files of the chart.
type files struct{ root string }

// Get is the text of a file of the chart; helm answers with nothing where there is none, we do not.
func (f files) Get(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(f.root, name))
	return string(text), err
}

func main() {
	if len(os.Args) < 4 {
		exit(errors.New("usage: main CHART RELEASE NAMESPACE [VALUE-FILE...]"))
	}
	rendered, err := render(os.Args[1], os.Args[2], os.Args[3], os.Args[4:])
	if err != nil {
		exit(err)
	}
	fmt.Print(rendered)
}

func exit(err error) {
	fmt.Fprintln(os.Stderr, "Error:", err)
	os.Exit(1)
}

func render(root, release, namespace string, valueFiles []string) (string, error) {
	chart, err := readYaml(filepath.Join(root, "Chart.yaml"))
	if err != nil {
		return "", err
	}
	merged, err := readYaml(filepath.Join(root, "values.yaml"))
	if err != nil {
		return "", err
	}
	for _, name := range valueFiles {
		given, err := readYaml(name)
		if err != nil {
			return "", err
		}
		overlay(merged, given)
	}
	if err := validate(filepath.Join(root, "values.schema.json"), merged); err != nil {
		return "", err
	}
	return execute(root, values{
		"Values":  merged,
		"Chart":   capitalised(chart),
		"Release": values{"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true, "Revision": 1},
		"Files":   files{root},
		"Capabilities": values{
			"KubeVersion": values{"Version": "v1.30.0", "Major": "1", "Minor": "30"},
		},
	})
}

func readYaml(name string) (values, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	read := values{}
	if err := yaml.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return read, nil
}

// overlay lays what was given over the chart's own: maps key by key, the rest whole, and null takes a key away.
func overlay(onto, given values) {
	for key, value := range given {
		below, isMap := onto[key].(values)
		above, isAlsoMap := value.(values)
		switch {
		case value == nil:
			delete(onto, key)
		case isMap && isAlsoMap:
			overlay(below, above)
		default:
			onto[key] = value
		}
	}
}

func validate(name string, given values) error {
	schema, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewGoLoader(given))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if result.Valid() {
		return nil
	}
	told := []string{"values don't meet the specifications of the schema(s) in the following chart(s):"}
	for _, fault := range result.Errors() {
		told = append(told, "- "+fault.String())
	}
	return errors.New(strings.Join(told, "\n"))
}

func capitalised(chart values) values {
	out := values{}
	for key, value := range chart {
		out[strings.ToUpper(key[:1])+key[1:]] = value
	}
	return out
}

func execute(root string, top values) (string, error) {
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all))
	names, err := filepath.Glob(filepath.Join(root, "templates", "*"))
	if err != nil {
		return "", err
	}
	sort.Strings(names)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if _, err := all.New(filepath.Base(name)).Parse(string(text)); err != nil {
			return "", err
		}
	}
	var out strings.Builder
	for _, name := range names {
		base := filepath.Base(name)
		if strings.HasPrefix(base, "_") {
			continue
		}
		top["Template"] = values{"Name": base, "BasePath": "templates"}
		var rendered strings.Builder
		if err := all.ExecuteTemplate(&rendered, base, top); err != nil {
			return "", err
		}
		// helm writes <no value> away as well.
		text := strings.ReplaceAll(rendered.String(), "<no value>", "")
		if base == "NOTES.txt" || strings.TrimSpace(text) == "" {
			continue
		}
		fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", base, text)
	}
	return out.String(), nil
}

func functions(all *template.Template) template.FuncMap {
	known := sprig.TxtFuncMap()
	delete(known, "env")
	delete(known, "expandenv")
	known["include"] = func(name string, data interface{}) (string, error) {
		var out strings.Builder
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	known["tpl"] = func(text string, data interface{}) (string, error) {
		one, err := all.Clone()
		if err != nil {
			return "", err
		}
		if _, err := one.New("tpl").Parse(text); err != nil {
			return "", err
		}
		var out strings.Builder
		err = one.ExecuteTemplate(&out, "tpl", data)
		return out.String(), err
	}
	known["required"] = func(why string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(why)
		}
		return value, nil
	}
	known["fail"] = func(why string) (string, error) { return "", errors.New(why) }
	known["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	known["fromYaml"] = func(text string) (values, error) {
		read := values{}
		err := yaml.Unmarshal([]byte(text), &read)
		return read, err
	}
	known["toJson"] = func(value interface{}) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	}
	return known
}
