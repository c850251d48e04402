// Which members a pool opens new sessions on, as Pointsman's metrics tell it.
import type { ClusterWithPointsman } from './cluster-with-pointsman.ts';
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';
import type { MemberAddress } from '../patroni/member.ts';

/** Resolves when it is exactly these, by fallback too. */
export async function waitForMembers(
  { cluster, pointsman }: ClusterWithPointsman,
  pool: string,
  expected: readonly MemberAddress[],
  timeoutMs?: number,
): Promise<void> {
  const names = namesOf(expected);
  const isReached = async () => namesOf(await membersOf({ cluster, pointsman }, pool)) === names;
  await pointsman.waitFor(`${names === '' ? 'nobody' : names} in the pool ${pool}`, isReached, timeoutMs);
}

export async function membersOf(
  { cluster, pointsman }: ClusterWithPointsman,
  pool: string,
): Promise<readonly MemberAddress[]> {
  const asked = cluster.members().map(async (member) => {
    const sample = `pointsman_member_standing{pool="${pool}",member="${member.name}",standing="open"}`;
    return (await pointsman.metric(sample)) === 1 ? [member] : [];
  });
  return (await Promise.all(asked)).flat();
}

/** The members that are not primary, of which there are two at the beginning of each scenario. */
export async function replicasOf(cluster: ClusterUnderTest): Promise<readonly [MemberAddress, MemberAddress]> {
  const leader = await cluster.leader();
  const [first, second] = cluster.members().filter((member) => member.name !== leader.name);
  if (first === undefined || second === undefined) throw new Error('two replicas are needed');
  return [first, second];
}

function namesOf(members: readonly MemberAddress[]): string {
  return members
    .map(({ name }) => name)
    .toSorted()
    .join(', ');
}
