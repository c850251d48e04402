{{/* The chart's name, for labels. */}}
{{- define "pointsman.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* The name of resources, at most 50 characters: suffixes follow, and 63 is the limit. */}}
{{- define "pointsman.fullname" -}}
{{- $name := include "pointsman.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" (.Release.Name | trunc 40 | trimSuffix "-") $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Labels that select the pods. They never change within a release. */}}
{{- define "pointsman.selector" -}}
app.kubernetes.io/name: {{ include "pointsman.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .Values.mode }}
{{- end }}

{{/* Labels of a resource: (dict "top" $ "component" NAME "extra" MAP), the last two optional. */}}
{{- define "pointsman.labels" -}}
{{- $labels := dict
  "app.kubernetes.io/name" (include "pointsman.name" .top)
  "app.kubernetes.io/instance" .top.Release.Name
  "app.kubernetes.io/version" .top.Chart.AppVersion
  "app.kubernetes.io/managed-by" .top.Release.Service
  "helm.sh/chart" (printf "%s-%s" .top.Chart.Name .top.Chart.Version | replace "+" "_" | trunc 63) }}
{{- with .component }}
{{- $_ := set $labels "app.kubernetes.io/component" . }}
{{- end }}
{{- toYaml (merge $labels (.extra | default dict) .top.Values.commonLabels) }}
{{- end }}

{{/* Labels of a pod that this chart makes. */}}
{{- define "pointsman.podLabels" -}}
{{- toYaml (merge (include "pointsman.selector" . | fromYaml) .Values.podLabels .Values.commonLabels) }}
{{- end }}

{{/* The field `annotations` of a resource, or nothing: (dict "top" $ "extra" MAP). */}}
{{- define "pointsman.annotations" -}}
{{- with merge (dict) (.extra | default dict) .top.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "pointsman.serviceAccount" -}}
{{- $own := ternary (include "pointsman.fullname" .) "default" .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default $own }}
{{- end }}

{{/* "true" when Pointsman finds the members through the Kubernetes API, else nothing. */}}
{{- define "pointsman.discovers" -}}
{{- $asked := or .Values.kubernetesDiscovery (hasKey .Values.cluster "kubernetes") }}
{{- if and $asked (ne .Values.mode "standalone") }}
{{- fail "kubernetesDiscovery needs mode: standalone. In the application's pods Pointsman has no rights: give it cluster.seeds" }}
{{- end }}
{{- if $asked }}true{{ end }}
{{- end }}
