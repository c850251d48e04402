// All laws over one history.
import type { Scene } from '../scene/scene.ts';
import { EVIDENCE } from './evidence.ts';
import { EXACT_BYTES } from './exact-bytes.ts';
import { LEFTOVERS } from './leftovers.ts';
import { SESSIONS } from './sessions.ts';
import { STATE } from './state.ts';
import { STRANGERS } from './strangers.ts';
import { WRITES } from './writes.ts';

const LAWS = [EVIDENCE, WRITES, EXACT_BYTES, STATE, SESSIONS, STRANGERS, LEFTOVERS];

/** A sentence for each time that a law was broken. */
export function judge(scene: Scene): readonly string[] {
  const broken = LAWS.flatMap(({ guarantee, broken }) => broken(scene).map((text) => `${guarantee}: ${text}`));
  return [...scene.found, ...broken];
}
