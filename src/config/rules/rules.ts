// What no single value can say: rules between values, each with its reason. Here those of the cluster and of the clocks.
import { apiTlsRules } from './api-tls-rules.ts';
import type { FileReaders } from './api-tls-rules.ts';
import { clientRules } from './client-rules.ts';
import { formatDuration as time } from '../schema/duration.ts';
import { error, warning } from '../fault.ts';
import type { Fault, Path } from '../fault.ts';
import { kubernetesRules } from './kubernetes-rules.ts';
import { fallbackRules, listenerRules, poolRules } from './pool-rules.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import { sharingRules } from './sharing-rules.ts';

export interface Means extends FileReaders {
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Every finding, whatever was found before it. */
export function checkRules(parsed: ParsedFile, { now, ...readers }: Means): readonly Fault[] {
  return [
    ...clusterRules(parsed),
    ...kubernetesRules(parsed.cluster.kubernetes, parsed.cluster.scope),
    ...apiTlsRules(parsed, readers),
    ...clientRules(parsed, readers.readKeyPair, now),
    ...clockRules(parsed),
    ...holdRules(parsed),
    ...poolRules(parsed),
    ...fallbackRules(parsed),
    ...listenerRules(parsed),
    ...adminRules(parsed),
    ...sharingRules(parsed),
  ];
}

function adminRules({ admin }: ParsedFile): readonly Fault[] {
  if (admin.token === undefined || admin.token_file === undefined) return [];
  return [
    error('token and token_file both give the token: give one of the two', ['admin', 'token_file'], ['admin', 'token']),
  ];
}

function clusterRules({ cluster }: ParsedFile): readonly Fault[] {
  const faults: Fault[] = [];
  const { seeds, members } = cluster;
  const seedPath = ['cluster', 'seeds'];
  const memberPath = ['cluster', 'members'];
  if (seeds.length + members.length === 0 && cluster.kubernetes === undefined) {
    faults.push(
      error(
        'no member to start from: give at least one seed, here or as POINTSMAN_CLUSTER_SEEDS=http://10.0.0.11:8008, or cluster.kubernetes',
        seedPath,
        memberPath,
        ['cluster', 'kubernetes'],
      ),
    );
  }
  for (const [i, { name }] of members.entries()) {
    if (members.findIndex((other) => other.name === name) === i) continue;
    faults.push(error(`${name} is already the name of another member`, [...memberPath, i, 'name']));
  }
  return faults;
}

function at(key: string): Path {
  return ['probe', key];
}

function clockRules({ probe }: ParsedFile): readonly Fault[] {
  const faults: Fault[] = [];
  const round = probe.interval + probe.timeout;
  const roundText = `interval + timeout (${time(round)})`;
  for (const key of ['write_max_age', 'read_max_age'] as const) {
    if (probe[key] > round) continue;
    faults.push(
      error(
        `${time(probe[key])} is not longer than ${roundText}: one slow answer would close the pool`,
        at(key),
        at('interval'),
        at('timeout'),
      ),
    );
  }
  if (probe.silence_grace < probe.write_max_age) {
    faults.push(
      error(
        `${time(probe.silence_grace)} is shorter than write_max_age (${time(probe.write_max_age)}): live sessions would end while new ones are let in`,
        at('silence_grace'),
        at('write_max_age'),
      ),
    );
  }
  if (probe.timeout > probe.interval) {
    faults.push(
      warning(
        `${time(probe.timeout)} is longer than interval (${time(probe.interval)}): a member is asked one question at a time, so a slow one is asked less often`,
        at('timeout'),
        at('interval'),
      ),
    );
  }
  if (probe.urgent.interval > probe.interval) {
    faults.push(
      error(
        `${time(probe.urgent.interval)} is longer than the ordinary interval (${time(probe.interval)}): urgent probing would be slower`,
        ['probe', 'urgent', 'interval'],
        at('interval'),
      ),
    );
  }
  return faults;
}

function holdRules({ hold }: ParsedFile): readonly Fault[] {
  const faults: Fault[] = [];
  if (hold.outage_timeout < hold.client_timeout) {
    faults.push(
      error(
        `${time(hold.outage_timeout)} is shorter than client_timeout (${time(hold.client_timeout)}): no client could wait that long`,
        ['hold', 'outage_timeout'],
        ['hold', 'client_timeout'],
      ),
    );
  }
  if (hold.before_switchover > 0 && hold.before_switchover >= hold.client_timeout) {
    faults.push(
      error(
        `${time(hold.before_switchover)} is not shorter than client_timeout (${time(hold.client_timeout)}): the first clients would be refused before the switchover begins`,
        ['hold', 'before_switchover'],
        ['hold', 'client_timeout'],
      ),
    );
  }
  return faults;
}
