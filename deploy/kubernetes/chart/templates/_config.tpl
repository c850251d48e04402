{{/* pointsman.yaml: what is derived here, under what the values say. */}}
{{- define "pointsman.config" -}}
{{- $host := ternary "127.0.0.1" "*" (eq .Values.mode "sidecar") }}
{{- $ports := .Values.ports }}
{{- $cluster := deepCopy .Values.cluster }}
{{- if not $cluster.seeds }}
{{- $_ := unset $cluster "seeds" }}
{{- end }}
{{- if and .Values.kubernetesDiscovery (eq .Values.mode "standalone") }}
{{- $_ := set $cluster "kubernetes" ($cluster.kubernetes | default dict) }}
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
{{- if .Values.tls.secretName }}
{{- $_ := set $own "client" (dict "tls" (dict "mode" .Values.tls.mode "cert" "/etc/pointsman-tls/tls.crt" "key" "/etc/pointsman-tls/tls.key")) }}
{{- end }}
{{- if .Values.adminTokenSecret }}
{{- $_ := set $own.admin "token_file" "/etc/pointsman-admin/token" }}
{{- end }}
{{- $all := mergeOverwrite $own (deepCopy .Values.config) }}
{{- if and (hasKey $all.cluster "kubernetes") (not $all.cluster.scope) (not (($all.cluster.kubernetes | default dict).service)) }}
{{- fail "kubernetesDiscovery finds pods by their label cluster-name=SCOPE: set cluster.scope, or cluster.kubernetes.service" }}
{{- end }}
{{- toYaml $all }}
{{- end }}
