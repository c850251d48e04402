// A Pointsman that has stopped leaves no connection and no timer (G11), but for a request to an API that is within its
// deadline: the end of the process ends it.
import type { Law } from './law.ts';

export const LEFTOVERS: Law = {
  guarantee: 'G11',
  broken: ({ sites }) =>
    sites.flatMap(({ host }) => {
      const [connections, timers] = [host.connectionCount(), host.timerCount() - host.requestTimers()];
      return [
        ...(connections === 0 ? [] : [`${connections} connections are left on ${host.name}`]),
        ...(timers === 0 ? [] : [`${timers} timers are left on ${host.name}`]),
      ];
    }),
};
