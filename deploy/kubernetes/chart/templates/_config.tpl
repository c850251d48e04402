{{/* pointsman.yaml: the derived settings, with `config` laid over them. */}}
{{- define "pointsman.config" -}}
{{- $host := ternary "*" "127.0.0.1" (eq .Values.mode "standalone") }}
{{- $ports := .Values.ports }}
{{- $cluster := deepCopy .Values.cluster }}
{{- if not $cluster.seeds }}
{{- $_ := unset $cluster "seeds" }}
{{- end }}
{{- if include "pointsman.discovers" . }}
{{- $kubernetes := $cluster.kubernetes | default dict }}
{{- if not (or $cluster.scope $kubernetes.service) }}
{{- fail "kubernetesDiscovery finds pods by their label cluster-name=SCOPE: set cluster.scope, or cluster.kubernetes.service" }}
{{- end }}
{{- $_ := set $cluster "kubernetes" $kubernetes }}
{{- end }}
{{- $own := dict
  "cluster" $cluster
  "listeners" (list
    (dict "address" (printf "%s:%d" $host (int $ports.write)) "pool" "write")
    (dict "address" (printf "%s:%d" $host (int $ports.read)) "pool" "read"))
  "admin" (dict "address" (printf "*:%d" (int $ports.admin)))
  "shutdown" (dict
    "grace" (printf "%ss" (include "pointsman.shutdown.grace" .))
    "drain_timeout" (printf "%ss" (include "pointsman.shutdown.drain" .)))
  "log" (dict "format" "json") }}
{{- if eq .Values.mode "standalone" }}
{{- $_ := set $own "peers" (list (printf "%s-metrics:%d" (include "pointsman.fullname" .) (int $ports.write))) }}
{{- end }}
{{- if .Values.tls.secretName }}
{{- $tls := dict "mode" .Values.tls.mode "cert" "/etc/pointsman-tls/tls.crt" "key" "/etc/pointsman-tls/tls.key" }}
{{- $_ := set $own "client" (dict "tls" $tls) }}
{{- end }}
{{- if .Values.adminTokenSecret }}
{{- $_ := set $own.admin "token_file" "/etc/pointsman-admin/token" }}
{{- end }}
{{- toYaml (mergeOverwrite $own (deepCopy .Values.config)) }}
{{- end }}
