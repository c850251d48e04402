// All laws over one history.
import type { Scene } from '../scene/scene.ts';
import { CANCELS } from './cancels.ts';
import { DEATHS } from './deaths.ts';
import { EVIDENCE } from './evidence.ts';
import { EXACT_BYTES } from './exact-bytes.ts';
import { FIRST_ROUND } from './first-round.ts';
import { LEFTOVERS } from './leftovers.ts';
import { ONE_PRIMARY } from './one-primary.ts';
import { READS } from './reads.ts';
import { REFUSALS } from './refusals.ts';
import { RELOADS } from './reloads.ts';
import { ROUTES } from './routes.ts';
import { SESSIONS } from './sessions.ts';
import { SHUTDOWNS } from './shutdowns.ts';
import { STATE } from './state.ts';
import { STRANGERS } from './strangers.ts';
import { STRAYS } from './strays.ts';
import { SWITCHOVERS } from './switchovers.ts';
import { TAKEN_OUT } from './taken-out.ts';
import { TRANSACTIONS } from './transactions.ts';
import { WAITS } from './waits.ts';
import { WRITES } from './writes.ts';

const LAWS = [
  EVIDENCE,
  ONE_PRIMARY,
  WRITES,
  EXACT_BYTES,
  READS,
  REFUSALS,
  WAITS,
  FIRST_ROUND,
  CANCELS,
  TAKEN_OUT,
  SWITCHOVERS,
  STRAYS,
  DEATHS,
  SHUTDOWNS,
  ROUTES,
  RELOADS,
  STATE,
  TRANSACTIONS,
  SESSIONS,
  STRANGERS,
  LEFTOVERS,
];

/** A sentence for each time that a law was broken. */
export function judge(scene: Scene): readonly string[] {
  const broken = LAWS.flatMap(({ guarantee, broken }) => broken(scene).map((text) => `${guarantee}: ${text}`));
  return [...scene.found, ...broken];
}
