// The state of the cluster for a failure message: the /cluster document, each member's own status, log tails.
import type { Etcd } from './etcd.ts';
import { readClusterDocument } from './health.ts';
import type { Member } from './member.ts';

const LOG_LINES = 15;

/** `concerned` limits the logs to these members; every member's status is in any case told. */
export async function describeState(
  members: readonly Member[],
  etcd: Etcd,
  concerned: readonly Member[] = members,
): Promise<string> {
  const [document, statuses] = await Promise.all([
    readClusterDocument(members, 2000),
    Promise.all(members.map((member) => member.status(1000))),
  ]);
  return [
    `etcd: ${etcd.isRunning() ? 'running' : 'stopped'}`,
    `/cluster: ${document === undefined ? 'no answer' : JSON.stringify(document)}`,
    ...members.map((member, index) => {
      const process = member.isRunning() ? 'process running' : 'no process';
      return `${member.name}: ${process}, /patroni: ${JSON.stringify(statuses[index] ?? 'no answer')}`;
    }),
    ...concerned.map((member) => `--- log of ${member.name}\n${member.logTail(LOG_LINES)}`),
  ].join('\n');
}
