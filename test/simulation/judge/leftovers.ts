// A Pointsman that has stopped leaves no connection and no timer (G11).
import type { Law } from './law.ts';

export const LEFTOVERS: Law = {
  guarantee: 'G11',
  broken({ host }) {
    const [connections, timers] = [host.connectionCount(), host.timerCount()];
    return [
      ...(connections === 0 ? [] : [`${connections} connections are left`]),
      ...(timers === 0 ? [] : [`${timers} timers are left`]),
    ];
  },
};
