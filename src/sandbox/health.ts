// Decides whether the cluster is healthy. Pure: the view of every running member in, the first problem out.
import type { MemberView } from './manager/view.ts';

/**
 * Undefined when the leader is a primary and every other member streams from it. A view is undefined when its member
 * did not answer.
 */
export function whyUnhealthy(
  views: readonly (MemberView | undefined)[],
  isStandbyCluster: boolean,
): string | undefined {
  const known = views.filter((view) => view !== undefined);
  if (known.length < views.length) return 'a manager does not answer';
  const [leader, second] = known.filter((view) => view.hasLock);
  if (leader === undefined) return 'no member has the leader lock';
  if (second !== undefined) return `${leader.name} and ${second.name} both have the leader lock`;
  const wanted = isStandbyCluster ? 'standby_leader' : 'primary';
  if (leader.role !== wanted) return `the leader ${leader.name} is ${leader.role}`;
  for (const view of known) {
    if (view.state !== 'running') return `${view.name} is ${view.state}`;
    if (view === leader) continue;
    if (view.role !== 'replica') return `${view.name} is ${view.role} without the lock`;
    if (view.replicationState !== 'streaming') return `${view.name} does not stream`;
    if (view.timeline !== leader.timeline) return `${view.name} is on another timeline`;
  }
  return undefined;
}
