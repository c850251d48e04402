// No client waits longer than the limits allow: for a session the hold and the connects, for an answer the silence of a
// server and the time that a parked session has (G10). Faults that stop a server, or Pointsman, add their time.
import { stoppedMs, type FaultKind, type Plan } from '../scene/plan.ts';
import type { Scene } from '../scene/scene.ts';
import { PARK_MS, SILENCE_GRACE_MS } from '../scene/site.ts';
import type { Law } from './law.ts';

/** `backend.connect_attempts` times `backend.connect_timeout`. Milliseconds. */
const CONNECTS_MS = 9_000;
/** Until the probe before the silence is answered, and a busy process. Milliseconds. */
const LATE_MS = 2_500;
/** The longest statement of a client. Milliseconds. */
const STATEMENT_MS = 2_000;
/** A commit waits for a standby that is gone: until its manager takes it out. Milliseconds. */
const STANDBY_MS = 10_000;

export const WAITS: Law = {
  guarantee: 'G10',
  broken: (scene) =>
    scene.clients.flatMap(({ account }) =>
      account.waits.flatMap(({ session, isLogin, from, to }) => {
        const mostMs = mostWaitMs(scene, isLogin);
        if (to - from <= mostMs) return [];
        const what = isLogin ? 'session' : 'answer';
        return [
          `${account.name}-${session} waits ${(to - from).toFixed(0)} ms for its ${what} from ${from.toFixed(1)} on`,
        ];
      }),
    ),
};

export function mostWaitMs({ plan }: Pick<Scene, 'plan'>, isLogin: boolean): number {
  const { holdMs, isSynchronous, moves } = plan.shape;
  const silenceMs = SILENCE_GRACE_MS + LATE_MS;
  const server = silenceMs + stopped(plan);
  if (isLogin) return holdMs + CONNECTS_MS + server;
  return server + STATEMENT_MS + (moves === 'off' ? 0 : PARK_MS) + (isSynchronous ? STANDBY_MS : 0);
}

const STOPS: readonly FaultKind[] = ['postgres freezes', 'host freezes'];

function stopped(plan: Plan): number {
  return plan.faults.reduce((sum, { kind, forMs }) => sum + (STOPS.includes(kind) ? forMs : 0), stoppedMs(plan));
}
