{{- /* Labels that select the operator's pods. */}}
{{- define "sluice.selectorLabels" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* Labels of every object of the chart. */}}
{{- define "sluice.labels" -}}
{{ include "sluice.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* The Secret that the serving certificate is kept in. */}}
{{- define "sluice.certSecret" -}}
{{ .Release.Name }}-serving-cert
{{- end }}

{{- /*
How the API server reaches a webhook: dict "root" $ "path" "/validate-...". The
caBundle is left out, so that neither an install nor an upgrade ever takes away
the one that the operator keeps there.
*/}}
{{- define "sluice.webhookClientConfig" -}}
{{- with .root.Values.webhook.url.host -}}
url: https://{{ . }}{{ $.path }}
{{- else -}}
service:
  name: {{ .root.Release.Name }}
  namespace: {{ .root.Release.Namespace }}
  port: 443
  path: {{ .path }}
{{- end }}
{{- end }}

{{- /*
The host that webhook.url.host names, without its port and an IPv6 address's
brackets; empty where the Service is called. The certificate has to be for it.
*/}}
{{- define "sluice.webhookHost" -}}
{{ regexReplaceAll ":[0-9]+$" .Values.webhook.url.host "" | trimPrefix "[" | trimSuffix "]" }}
{{- end }}

{{- /*
The Secrets that the table of external clusters names, each once; empty without the
topic controller.
*/}}
{{- define "sluice.externalSecrets" -}}
{{- $names := list -}}
{{- if has "topic" .Values.controllers -}}
{{- range .Values.externalClusters -}}
{{- with dig "tls" "ca" "secret" "" . }}{{ $names = append $names . }}{{ end -}}
{{- with dig "credentials" "secret" "" . }}{{ $names = append $names . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- with $names }}{{ . | uniq | sortAlpha | toJson }}{{ end -}}
{{- end }}
