{{/* The container that Pointsman is, in either mode. Its port has a long name beside an application, which may have an admin port too. */}}
{{- define "pointsman.adminPort" -}}
{{- ternary "pointsman-admin" "admin" (eq .Values.mode "sidecar") }}
{{- end }}

{{- define "pointsman.container" -}}
- name: pointsman
  {{- if eq .Values.mode "sidecar" }}
  restartPolicy: Always
  {{- end }}
  image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
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
  resources:
    {{- toYaml (get .Values.resources .Values.mode) | nindent 4 }}
  securityContext:
    runAsNonRoot: true
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: { drop: [ALL] }
    seccompProfile: { type: RuntimeDefault }
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
  configMap: { name: {{ include "pointsman.name" . }} }
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

{{/* What both kinds of pod say about where and how they run. */}}
{{- define "pointsman.placement" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
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

{{/* Another configuration rolls the pods. */}}
{{- define "pointsman.podAnnotations" -}}
checksum/config: {{ include "pointsman.config" . | sha256sum }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}
