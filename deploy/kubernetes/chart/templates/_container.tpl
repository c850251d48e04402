{{/* The admin port has a longer name beside an application, which may have an admin port of its own. */}}
{{- define "pointsman.adminPort" -}}
{{- ternary "admin" "pointsman-admin" (eq .Values.mode "standalone") }}
{{- end }}

{{- define "pointsman.image" -}}
{{- $image := .Values.image }}
{{- with $image.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Pointsman's container, in every mode. */}}
{{- define "pointsman.container" -}}
- name: pointsman
  {{- if ne .Values.mode "standalone" }}
  restartPolicy: Always
  {{- end }}
  image: {{ include "pointsman.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args: [run, -c, /etc/pointsman/pointsman.yaml]
  ports:
    {{- if eq .Values.mode "standalone" }}
    - { name: write, containerPort: {{ .Values.ports.write }} }
    - { name: read, containerPort: {{ .Values.ports.read }} }
    {{- end }}
    - { name: {{ include "pointsman.adminPort" . }}, containerPort: {{ .Values.ports.admin }} }
  startupProbe:
    httpGet: { path: /readyz, port: {{ include "pointsman.adminPort" . }} }
    periodSeconds: 1
    timeoutSeconds: 2
    failureThreshold: 60
  readinessProbe:
    httpGet: { path: /readyz, port: {{ include "pointsman.adminPort" . }} }
    periodSeconds: 5
    timeoutSeconds: 2
    failureThreshold: 2
  livenessProbe:
    httpGet: { path: /livez, port: {{ include "pointsman.adminPort" . }} }
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 3
  {{- with .Values.extraEnv }}
  env:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.envFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  resources:
    {{- toYaml (ternary .Values.resources.standalone .Values.resources.sidecar (eq .Values.mode "standalone")) | nindent 4 }}
  securityContext:
    {{- toYaml .Values.securityContext | nindent 4 }}
  volumeMounts:
    - { name: pointsman-config, mountPath: /etc/pointsman, readOnly: true }
    {{- if .Values.tls.secretName }}
    - { name: pointsman-tls, mountPath: /etc/pointsman-tls, readOnly: true }
    {{- end }}
    {{- if .Values.adminTokenSecret }}
    - { name: pointsman-admin, mountPath: /etc/pointsman-admin, readOnly: true }
    {{- end }}
    {{- with .Values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{- define "pointsman.volumes" -}}
- name: pointsman-config
  configMap: { name: {{ include "pointsman.fullname" . }} }
{{- if .Values.tls.secretName }}
- name: pointsman-tls
  secret: { secretName: {{ .Values.tls.secretName | quote }} }
{{- end }}
{{- if .Values.adminTokenSecret }}
- name: pointsman-admin
  secret: { secretName: {{ .Values.adminTokenSecret | quote }}, items: [{ key: token, path: token }] }
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Where the pods run, and with which credentials their images are pulled. */}}
{{- define "pointsman.placement" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* null in the values: over nodes and zones. Sidecars are spread only when asked. */}}
{{- define "pointsman.spread" -}}
{{- $constraints := .Values.topologySpreadConstraints }}
{{- if and (kindIs "invalid" $constraints) (eq .Values.mode "standalone") }}
{{- $constraints = list }}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
{{- $constraints = append $constraints (dict "maxSkew" 1 "topologyKey" . "whenUnsatisfiable" "ScheduleAnyway") }}
{{- end }}
{{- end }}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "pointsman.selector" . | fromYaml)) }}
{{- with $constraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- toYaml (list (hasKey . "labelSelector" | ternary . (merge (dict) . $own))) | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* The checksum rolls the pods when the configuration changes. */}}
{{- define "pointsman.podAnnotations" -}}
{{- $own := dict "checksum/config" (include "pointsman.config" . | sha256sum) }}
{{- toYaml (merge $own .Values.podAnnotations .Values.commonAnnotations) }}
{{- end }}
