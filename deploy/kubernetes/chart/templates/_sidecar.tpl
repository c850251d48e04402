{{/*
For a chart of your own that has this one as a dependency with `mode: library`. Each takes the dependency's scope,
`.Subcharts.pointsman`; deploy/kubernetes/examples/application-chart shows where they go in a pod.
  pointsman.sidecar              an entry of initContainers; put it before the others
  pointsman.sidecar.volumes      entries of volumes
  pointsman.sidecar.annotations  entries of the pod's annotations: another configuration rolls the pods
  pointsman.sidecar.labels       entries of the pod's labels: the PodMonitor selects by them
  pointsman.sidecar.seconds      terminationGracePeriodSeconds
  pointsman.sidecar.preStop      lifecycle of a container that is behind a Service
*/}}
{{- define "pointsman.sidecar" -}}
{{- include "pointsman.container" . }}
{{- end }}

{{- define "pointsman.sidecar.volumes" -}}
{{- include "pointsman.volumes" . }}
{{- end }}

{{- define "pointsman.sidecar.annotations" -}}
{{- include "pointsman.podAnnotations" . }}
{{- end }}

{{- define "pointsman.sidecar.labels" -}}
pointsman: {{ include "pointsman.fullname" . }}
{{- end }}

{{- define "pointsman.sidecar.seconds" -}}
{{- include "pointsman.shutdown.total" . }}
{{- end }}

{{- define "pointsman.sidecar.preStop" -}}
preStop: { sleep: { seconds: {{ include "pointsman.shutdown.sixth" . }} } }
{{- end }}

{{- define "pointsman.sidecar.needs" -}}
{{- if semverCompare "<1.30.0-0" .Capabilities.KubeVersion.Version }}
{{- fail (printf "mode: %s needs Kubernetes 1.30 or later, for sidecars and for preStop hooks that sleep" .Values.mode) }}
{{- end }}
{{- end }}
