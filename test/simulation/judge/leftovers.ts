// A Pointsman that has stopped leaves no connection and no timer (G11), but for a request to an API that is within its
// deadline: the end of the process ends it. While it runs, no connection to a server outlives that of its client.
import type { Scene } from '../scene/scene.ts';
import { wiresOf } from './conversations.ts';
import type { Law } from './law.ts';

/** Pointsman ends both together. Milliseconds. */
const LATE_MS = 500;

export const LEFTOVERS: Law = {
  guarantee: 'G11',
  broken: (scene) => [
    ...scene.sites.flatMap(({ host }) => {
      const [connections, timers] = [host.connectionCount(), host.timerCount() - host.requestTimers()];
      return [
        ...(connections === 0 ? [] : [`${connections} connections are left on ${host.name}`]),
        ...(timers === 0 ? [] : [`${timers} timers are left on ${host.name}`]),
      ];
    }),
    ...outliving(scene),
  ],
};

function outliving(scene: Scene): readonly string[] {
  return wiresOf(scene).conversations.flatMap(({ session, client, legs }) => {
    const { endedAt } = client.connection;
    if (endedAt === undefined) return [];
    return legs.flatMap(({ connection: { peer, endedAt: until = Infinity } }) => {
      const lateMs = until - endedAt;
      if (lateMs <= LATE_MS) return [];
      return [`${session} is over, and its connection to ${peer.address} stays for ${lateMs.toFixed(0)} ms`];
    });
  });
}
