{{/*
Everything that follows from shutdownSeconds (T), in seconds; deploy/README.md says why.
  grace   standalone: a sixth of T, at most 10. As a sidecar 0: who would still come is gone.
  margin  a twelfth of T, at least 1, at most 10.
  drain   standalone: what is left. As a sidecar a sixth of T, at most 10; the application has the rest.
  preStop of the application: a sixth of T, at most 10.
*/}}
{{- define "pointsman.shutdown.total" -}}
{{- .Values.shutdownSeconds | default (ternary 30 60 (eq .Values.mode "sidecar")) | int }}
{{- end }}

{{- define "pointsman.shutdown.sixth" -}}
{{- min 10 (div (include "pointsman.shutdown.total" . | int) 6) }}
{{- end }}

{{- define "pointsman.shutdown.grace" -}}
{{- if eq .Values.mode "sidecar" }}0{{ else }}{{ include "pointsman.shutdown.sixth" . }}{{ end }}
{{- end }}

{{- define "pointsman.shutdown.margin" -}}
{{- max 1 (min 10 (div (include "pointsman.shutdown.total" . | int) 12)) }}
{{- end }}

{{- define "pointsman.shutdown.drain" -}}
{{- if eq .Values.mode "sidecar" }}{{ include "pointsman.shutdown.sixth" . }}
{{- else }}{{ sub (include "pointsman.shutdown.total" . | int) (add (include "pointsman.shutdown.grace" .) (include "pointsman.shutdown.margin" .)) }}
{{- end }}
{{- end }}
