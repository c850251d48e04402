// Durations that go on between two messages.
import type { JSX } from 'preact';
import { useSecondsSince } from '../state/use-now.ts';
import { durationText } from '../view/words.ts';

/** `seconds`: when the status came. */
export function Age({ seconds }: { readonly seconds: number }): JSX.Element {
  return <span class="number">{durationText(seconds + useSecondsSince())}</span>;
}

export function Countdown({ seconds }: { readonly seconds: number }): JSX.Element {
  return <span class="number">{durationText(Math.max(0, seconds - useSecondsSince()))}</span>;
}
