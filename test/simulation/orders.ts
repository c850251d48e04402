// The orders that a fault gives: to a Pointsman, or to the API of a member.
import type { ClusterMember } from './cluster/cluster.ts';
import type { PlannedFault } from './scene/plan.ts';
import type { Scene } from './scene/scene.ts';
import type { Site } from './scene/site.ts';

/** A fault, and the things that it concerns. */
export interface Hit {
  readonly scene: Scene;
  readonly member: ClusterMember;
  /** The Pointsman that it concerns. */
  readonly site: Site;
  readonly fault: PlannedFault;
}

function switchoverOf(scene: Scene, { variant }: PlannedFault) {
  const leader = scene.cluster.store.leader() ?? 'pg1';
  const candidates = scene.cluster.members.filter(({ name }) => name !== leader).map(({ name }) => name);
  const candidate = variant % 2 === 0 ? candidates[variant % candidates.length] : undefined;
  return { leader, ...(candidate !== undefined && { candidate }) };
}

export function switchOver(
  scene: Scene,
  { pointsman }: Site,
  fault: PlannedFault,
  transactionMs = 500 + (fault.variant % 3_000),
): void {
  if (pointsman.isKilled) return;
  const { candidate: to } = switchoverOf(scene, fault);
  const request = { to, transactionMs };
  void noteEnd(scene, 'operation', pointsman.operations.start(request));
}

interface Freeze {
  /** Until the switchover begins. */
  readonly lateMs?: number;
  readonly transactionMs?: number;
  /** From the order until the primary loses its lock. */
  readonly lockMs: number;
}

/**
 * The manager of the primary freezes with the order of a switchover, and its PostgreSQL goes on. Returns the end of the
 * fault.
 */
export function freezeInSwitchover(
  { scene, site, fault }: Hit,
  { lateMs = 0, transactionMs, lockMs }: Freeze,
): () => void {
  const { store } = scene.cluster;
  const { manager } = scene.member(undefined);
  if (lateMs === 0) switchOver(scene, site, fault, transactionMs);
  else scene.world.schedule(lateMs, () => switchOver(scene, site, fault, transactionMs));
  store.onOrder = () => {
    manager.freeze();
    scene.world.schedule(lockMs, () => store.loseLock());
    store.onOrder = () => {};
  };
  return () => {
    store.onOrder = () => {};
    manager.thaw();
  };
}

export function restart(scene: Scene, pointsman: Site['pointsman'], member: string): void {
  if (!pointsman.isKilled) void noteEnd(scene, 'restart', pointsman.restart(member));
}

export function order({ scene, member, fault }: Hit, path: string): void {
  const { address } = member.host;
  const { leader, candidate } = switchoverOf(scene, fault);
  const body = path === '/switchover' ? { leader, ...(candidate !== undefined && { candidate }) } : {};
  const api = { url: `http://${address}:8008`, address: { host: address, port: 8008 } };
  const answer = scene.operator.request({ api, path, method: 'POST', body, deadlineMs: 15_000 });
  void noteEnd(scene, `operator: ${path} at ${member.name}`, answer);
}

async function noteEnd({ world }: Scene, what: string, result: Promise<unknown>): Promise<void> {
  world.note(`${what}: ${JSON.stringify(await result).slice(0, 160)}`);
}
