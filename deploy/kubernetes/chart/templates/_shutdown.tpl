{{/*
Everything that is derived from shutdownSeconds (T), in seconds. The README of deploy/kubernetes gives the reasons.
  grace   standalone: a sixth of T, at most 10. Sidecar: 0, because the application is gone by then.
  margin  a twelfth of T, at least 1, at most 10: unused time before SIGKILL.
  drain   standalone: the rest. Sidecar: a sixth of T, at most 10; the application has the rest.
  preStop of the application: a sixth of T, at most 10.
*/}}
{{- define "pointsman.shutdown.total" -}}
{{- .Values.shutdownSeconds | default (ternary 60 30 (eq .Values.mode "standalone")) | int }}
{{- end }}

{{- define "pointsman.shutdown.sixth" -}}
{{- min 10 (div (include "pointsman.shutdown.total" . | int) 6) }}
{{- end }}

{{- define "pointsman.shutdown.grace" -}}
{{- if eq .Values.mode "standalone" }}{{ include "pointsman.shutdown.sixth" . }}{{ else }}0{{ end }}
{{- end }}

{{- define "pointsman.shutdown.margin" -}}
{{- max 1 (min 10 (div (include "pointsman.shutdown.total" . | int) 12)) }}
{{- end }}

{{- define "pointsman.shutdown.drain" -}}
{{- if eq .Values.mode "standalone" }}
{{- $taken := add (include "pointsman.shutdown.grace" .) (include "pointsman.shutdown.margin" .) }}
{{- sub (include "pointsman.shutdown.total" . | int) $taken }}
{{- else }}
{{- include "pointsman.shutdown.sixth" . }}
{{- end }}
{{- end }}
