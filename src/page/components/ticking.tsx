// Durations that go on between two messages.
import type { JSX } from 'preact';
import { ageText } from '../view/words.ts';
import { useEffect, useState } from 'preact/hooks';
import { usePageState } from '../state/store.ts';

/** `seconds`: when the status came. */
export function Age({ seconds }: { readonly seconds: number }): JSX.Element {
  return <span class="number">{ageText(seconds + useSecondsSince())}</span>;
}

export function Countdown({ seconds }: { readonly seconds: number }): JSX.Element {
  return <span class="number">{ageText(Math.max(0, seconds - useSecondsSince()))}</span>;
}

const TICK_MS = 200;

/** Seconds since the status that is on screen came. Stops while the connection is lost: nothing new is known then. */
function useSecondsSince(): number {
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
