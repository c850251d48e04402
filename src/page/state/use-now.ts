// Time that ticks in components: ages and countdowns go on between two messages from Pointsman.
import { useEffect, useState } from 'preact/hooks';
import { usePageState } from './use-store.ts';

const TICK_MS = 200;

/** Seconds since the status that is on screen came. Stops while the connection is lost: nothing new is known then. */
export function useSecondsSince(): number {
  const { receivedAt, connection } = usePageState();
  const [now, setNow] = useState(() => performance.now());
  const isTicking = connection.kind === 'live';
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return Math.max(0, now - receivedAt) / 1000;
}
