// Values that the chart refuses: the title of the case, the values, and the reason that helm prints.

const SIDECAR = { mode: 'sidecar', application: { containers: [{ name: 'a', image: 'a' }] } };
const NO_SEEDS = /seeds.*(?:at least 1|minItems)/;

export const REFUSED_VALUES: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  ['no seeds', { cluster: { seeds: [] } }, NO_SEEDS],
  ['discovery of no cluster', { cluster: { seeds: [] }, kubernetesDiscovery: true }, /cluster\.scope/],
  ['no seeds for a sidecar', { ...SIDECAR, cluster: { seeds: [], scope: 'a' }, kubernetesDiscovery: true }, NO_SEEDS],
  ['discovery by a sidecar, which has no rights', { ...SIDECAR, kubernetesDiscovery: true }, /mode: standalone/],
  ['discovery in a library', { mode: 'library', kubernetesDiscovery: true }, /mode: standalone/],
  ['a seed that is no URL', { cluster: { seeds: ['postgres:8008'] } }, /seeds.*0/],
  ['a misspelt key', { shutdownSecond: 60 }, /shutdownSecond/],
  ['a misspelt key of cluster', { cluster: { seeds: ['http://a:1'], scop: 'a' } }, /scop/],
  ['too little time', { shutdownSeconds: 5 }, /shutdownSeconds.*12/],
  ['time with a unit', { shutdownSeconds: '60s' }, /shutdownSeconds/],
  ['a derived setting', { config: { shutdown: { drain_timeout: '1h' } } }, /shutdown/],
  ['the cluster in a second place', { config: { cluster: { scope: 'a' } } }, /cluster/],
  ['a port below 1024', { ports: { write: 80, read: 5433, admin: 8432 } }, /ports.write.*1024/],
  ['a sidecar beside nothing', { mode: 'sidecar' }, /containers.*(?:at least 1|minItems)/],
  ['an unknown mode', { mode: 'daemonset' }, /mode/],
  ['a tag as digest', { image: { digest: 'v1' } }, /digest/],
  ['a name that is too long', { fullnameOverride: 'a'.repeat(51) }, /fullnameOverride/],
  [
    'an override of no alert',
    { monitoring: { enabled: true, alerts: { overrides: { PointsmanSlow: false } } } },
    /PointsmanSlow: there is no such alert; there are PointsmanAbsent, /,
  ],
  [
    'a threshold of an alert that has none',
    { monitoring: { enabled: true, alerts: { overrides: { PointsmanPoolClosed: { threshold: 2 } } } } },
    /PointsmanPoolClosed.threshold: this alert has no threshold/,
  ],
  ['a runbook without a scheme', { monitoring: { alerts: { runbookUrl: 'wiki/page' } } }, /runbookUrl/],
];
