// Rules between values, each with its reason. This file has those of the sections cluster, probe, hold and admin.
import { apiAuthRules } from './api-auth-rules.ts';
import { branchesRules } from './branches-rules.ts';
import { formatDuration as time } from '../schema/duration.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import { unusableDirectory } from '../files/unusable-files.ts';
import { isLoopback } from './loopback.ts';
import { peersRules } from './peers-rules.ts';
import { kubernetesRules } from './kubernetes-rules.ts';
import { loginsRules } from './logins-rules.ts';
import { movesRules } from './moves-rules.ts';
import { platformRules } from './platform-rules.ts';
import { fallbackRules, latencyRules, listenerRules, poolRules } from './pool-rules.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import type { Environment } from '../source/environment.ts';
import { readsRules } from './reads-rules.ts';
import { secretFileRules } from './secret-file-rules.ts';
import { sharingRules } from './sharing-rules.ts';
import { apiTlsRules, backendTlsRules, clientTlsRules } from './tls-rules.ts';

/** All faults, not only the first. */
export function checkRules(parsed: ParsedFile, env: Environment): readonly Fault[] {
  // The files of a pod are its own, and Kubernetes mounts them readable.
  const isPod = env['KUBERNETES_SERVICE_HOST'] !== undefined;
  return [
    ...clusterRules(parsed),
    ...kubernetesRules(parsed.cluster.kubernetes, parsed.cluster.scope),
    ...apiTlsRules(parsed),
    ...apiAuthRules(parsed),
    ...branchesRules(parsed),
    ...clientTlsRules(parsed),
    ...backendTlsRules(parsed),
    ...clockRules(parsed),
    ...holdRules(parsed),
    ...poolRules(parsed),
    ...latencyRules(parsed),
    ...fallbackRules(parsed),
    ...listenerRules(parsed),
    ...peersRules(parsed),
    ...adminRules(parsed),
    ...incidentRules(parsed),
    ...platformRules(parsed),
    ...movesRules(parsed),
    ...loginsRules(parsed),
    ...readsRules(parsed),
    ...sharingRules(parsed),
    ...(isPod ? [] : secretFileRules(parsed)),
  ];
}

function adminRules({ admin: { token, token_file: file, console } }: ParsedFile): readonly Fault[] {
  const faults: Fault[] = [];
  if (token !== undefined && file !== undefined) {
    const text = 'token and token_file both give the token: give one of the two';
    faults.push(error(text, ['admin', 'token_file'], ['admin', 'token']));
  }
  const isLocal = console.address === undefined || isLoopback(console.address);
  if (!isLocal && token === undefined && file === undefined) {
    const text = 'other hosts cannot log in to the console without a token: give admin.token_file, or use loopback';
    faults.push(warning(text, ['admin', 'console', 'address'], ['admin', 'token_file']));
  }
  return faults;
}

/** A warning: a proxy that cannot keep incidents must route all the same. */
function incidentRules({ incidents }: ParsedFile): readonly Fault[] {
  const { directory } = incidents;
  const why = directory === undefined ? undefined : unusableDirectory(directory);
  if (why === undefined) return [];
  const text = `${directory} cannot be used: ${why}; incidents would be kept in memory only`;
  return [warning(text, ['incidents', 'directory'])];
}

const NO_START =
  'no member to start from: give at least one seed, here or as POINTSMAN_CLUSTER_SEEDS=http://10.0.0.11:8008, ' +
  'or cluster.kubernetes';

function clusterRules({ cluster }: ParsedFile): readonly Fault[] {
  const { seeds, members } = cluster;
  const memberPath = ['cluster', 'members'];
  const hasStart = seeds.length + members.length > 0 || cluster.kubernetes !== undefined;
  const repeated = [...members.entries()].filter(
    ([i, { name }]) => members.findIndex((other) => other.name === name) !== i,
  );
  return [
    ...(hasStart ? [] : [error(NO_START, ['cluster', 'seeds'], memberPath, ['cluster', 'kubernetes'])]),
    ...repeated.map(([i, { name }]) =>
      error(`${name} is already the name of another member`, [...memberPath, i, 'name']),
    ),
  ];
}

const probeKey = (key: string): Path => ['probe', key];
const holdKey = (key: string): Path => ['hold', key];

function clockRules({ probe }: ParsedFile): readonly Fault[] {
  const faults: Fault[] = [];
  const round = probe.interval + probe.timeout;
  for (const key of ['write_max_age', 'read_max_age'] as const) {
    if (probe[key] > round) continue;
    const why = `is not longer than interval + timeout (${time(round)}): one slow answer would close the pool`;
    faults.push(error(`${time(probe[key])} ${why}`, probeKey(key), probeKey('interval'), probeKey('timeout')));
  }
  const { silence_grace: grace, write_max_age: writeMaxAge, timeout, interval, urgent } = probe;
  if (grace < writeMaxAge) {
    const why = `is shorter than write_max_age (${time(writeMaxAge)}): sessions would end while new ones still open`;
    faults.push(error(`${time(grace)} ${why}`, probeKey('silence_grace'), probeKey('write_max_age')));
  }
  if (timeout > interval) {
    const why = `is longer than interval (${time(interval)}): a slow member is probed less often, one probe at a time`;
    faults.push(warning(`${time(timeout)} ${why}`, probeKey('timeout'), probeKey('interval')));
  }
  if (urgent.interval > interval) {
    const why = `is longer than the ordinary interval (${time(interval)}): urgent probing would be slower`;
    faults.push(error(`${time(urgent.interval)} ${why}`, ['probe', 'urgent', 'interval'], probeKey('interval')));
  }
  return faults;
}

function holdRules({ hold }: ParsedFile): readonly Fault[] {
  const faults: Fault[] = [];
  const limit = `client_timeout (${time(hold.client_timeout)})`;
  if (hold.outage_timeout < hold.client_timeout) {
    const why = `is shorter than ${limit}: no client could wait that long`;
    faults.push(error(`${time(hold.outage_timeout)} ${why}`, holdKey('outage_timeout'), holdKey('client_timeout')));
  }
  const { before_switchover: before = 0 } = hold;
  if (before > 0 && before >= hold.client_timeout) {
    const why = `is not shorter than ${limit}: the first clients would be refused before the switchover begins`;
    faults.push(error(`${time(before)} ${why}`, holdKey('before_switchover'), holdKey('client_timeout')));
  }
  return faults;
}
