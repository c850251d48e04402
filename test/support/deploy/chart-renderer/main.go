// Renders a chart where there is no helm. Debian does not package helm, but packages the libraries that helm is made of
// (text/template, sprig, gojsonschema). Reads a chart with its subcharts in charts/ and value files, checks the values
// against each values.schema.json, and renders. Of helm's functions it has include, required, fail, tpl, toYaml, fromYaml
// and toJson; of its objects Values, Chart, Release, Files.Get, Template, Subcharts and Capabilities.KubeVersion.
// Anything else is an error. NOTES.txt is printed alone, when the environment variable NOTES is set.
//
//	main CHART RELEASE NAMESPACE [VALUE-FILE...]
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// Get returns the text of a file of the chart. A missing file is an error here; helm returns nothing.
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

// chart is one chart of the tree: the one that is rendered, or a subchart.
type chart struct {
	root, name string
	// scope is what its templates get as `.`.
	scope values
}

func render(root, release, namespace string, valueFiles []string) (string, error) {
	given := values{}
	for _, name := range valueFiles {
		read, err := readYaml(name)
		if err != nil {
			return "", err
		}
		overlay(given, read, false)
	}
	common := values{
		"Release": values{"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true, "Revision": 1},
		"Capabilities": values{
			"KubeVersion": values{"Version": "v1.30.0", "Major": "1", "Minor": "30"},
		},
	}
	charts, err := load(root, given, common)
	if err != nil {
		return "", err
	}
	return execute(charts)
}

// load reads a chart and its subcharts, with the chart itself first. A subchart's values are those under its name.
func load(root string, given, common values) ([]chart, error) {
	about, err := readYaml(filepath.Join(root, "Chart.yaml"))
	if err != nil {
		return nil, err
	}
	merged, err := readYaml(filepath.Join(root, "values.yaml"))
	if err != nil {
		return nil, err
	}
	overlay(merged, given, true)
	if err := validate(filepath.Join(root, "values.schema.json"), merged); err != nil {
		return nil, err
	}
	subcharts := values{}
	scope := values{"Values": merged, "Chart": capitalised(about), "Files": files{root}, "Subcharts": subcharts}
	for key, value := range common {
		scope[key] = value
	}
	name, _ := about["name"].(string)
	charts := []chart{{root, name, scope}}
	below, err := filepath.Glob(filepath.Join(root, "charts", "*"))
	if err != nil {
		return nil, err
	}
	sort.Strings(below)
	for _, directory := range below {
		own, _ := merged[filepath.Base(directory)].(values)
		loaded, err := load(directory, own, common)
		if err != nil {
			return nil, err
		}
		subcharts[loaded[0].name] = loaded[0].scope
		charts = append(charts, loaded...)
	}
	return charts, nil
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

// overlay merges given values into others: maps key by key, everything else whole. A null takes a key away, once the
// chart's own values are below.
func overlay(onto, given values, isLast bool) {
	for key, value := range given {
		below, isMap := onto[key].(values)
		above, isAlsoMap := value.(values)
		switch {
		case value == nil && isLast:
			delete(onto, key)
		case isMap && isAlsoMap:
			overlay(below, above, isLast)
		default:
			onto[key] = value
		}
	}
}

func validate(name string, given values) error {
	schema, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
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
	lines := []string{"values don't meet the specifications of the schema(s) in the following chart(s):"}
	for _, fault := range result.Errors() {
		lines = append(lines, "- "+fault.String())
	}
	return errors.New(strings.Join(lines, "\n"))
}

func capitalised(chart values) values {
	out := values{}
	for key, value := range chart {
		out[strings.ToUpper(key[:1])+key[1:]] = value
	}
	return out
}

func execute(charts []chart) (string, error) {
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all))
	type source struct {
		name  string
		scope values
	}
	sources := []source{}
	for _, one := range charts {
		directory := filepath.Join(one.root, "templates")
		err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name := filepath.Join(one.name, "templates", strings.TrimPrefix(path, directory))
			sources = append(sources, source{name, one.scope})
			_, err = all.New(name).Parse(string(text))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	var out strings.Builder
	for _, one := range sources {
		base := filepath.Base(one.name)
		if strings.HasPrefix(base, "_") || (base == "NOTES.txt" && one.name != filepath.Join(charts[0].name, "templates", base)) {
			continue
		}
		one.scope["Template"] = values{"Name": one.name, "BasePath": filepath.Dir(one.name)}
		var rendered strings.Builder
		if err := all.ExecuteTemplate(&rendered, one.name, one.scope); err != nil {
			return "", err
		}
		// helm removes <no value> as well.
		text := strings.ReplaceAll(rendered.String(), "<no value>", "")
		isNotes := base == "NOTES.txt"
		if isNotes != (os.Getenv("NOTES") != "") || strings.TrimSpace(text) == "" {
			continue
		}
		if isNotes {
			return text, nil
		}
		fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", one.name, text)
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
