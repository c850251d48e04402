// No write is sent to a server later than the bound after its member has lost the leader lock (G2, G3, G4): evidence
// has an age, and silence a grace. The moment of sending counts, so that a server that was frozen changes nothing.
import type { FaultKind } from '../scene/plan.ts';
import { WRITE_MAX_AGE_MS, SILENCE_GRACE_MS } from '../scene/site.ts';
import type { Scene } from '../scene/scene.ts';
import { wiresOf } from './conversations.ts';
import type { Law } from './law.ts';
import { mayTakeAStranger } from './strangers.ts';

/** The probe before the silence, a busy process, and clocks that drift. Milliseconds. */
const LATE_MS = 1_500;

const LIES: readonly FaultKind[] = ['member claims to lead', 'an old primary returns, and the new one is silent'];

export const STRAYS: Law = {
  guarantee: 'G2, G3, G4',
  broken: (scene) => {
    const { observer, plan } = scene;
    if (mayTakeAStranger(plan)) return [];
    return observer.strays.flatMap(({ at, member, session, afterMs, isOpening }) => {
      const mostMs = (isOpening ? WRITE_MAX_AGE_MS : SILENCE_GRACE_MS) + LATE_MS;
      // A member that lies about itself is believed.
      const isLiar = afterMs === Infinity && plan.faults.some(({ kind }) => LIES.includes(kind));
      if (afterMs <= mostMs || isLiar || (isOpening && isInquiry(scene, member, session, at))) return [];
      const what = isOpening ? `${session} opens` : 'a write is sent';
      return [`${what} at ${member} at ${at.toFixed(1)}, ${afterMs.toFixed(0)} ms after it had lost the lock`];
    });
  },
};

/** To find out whether a server meant this session alone, its client's startup packet is sent there again, no more. */
function isInquiry(scene: Scene, member: string, session: string, at: number): boolean {
  if (scene.plan.shape.moves !== 'always') return false;
  const address = scene.cluster.members.find(({ name }) => name === member)?.host.address;
  const own = wiresOf(scene).conversations.find((one) => one.session === session);
  const legs = own?.legs.filter(({ connection }) => connection.peer.address === address) ?? [];
  const last = legs.findLast(({ connection }) => connection.openedAt <= at);
  return last !== undefined && last !== legs[0] && last.requests.length === last.requests.readInt32BE(0);
}
