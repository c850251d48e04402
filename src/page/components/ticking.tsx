// Durations that go on between two messages.
import type { JSX } from 'preact';
import { useSecondsSince } from '../state/use-now.ts';
import { ageText } from '../view/words.ts';

/** `seconds`: when the status came. */
export function Age({ seconds }: { readonly seconds: number }): JSX.Element {
  return <span class="number">{ageText(seconds + useSecondsSince())}</span>;
}

export function Countdown({ seconds }: { readonly seconds: number }): JSX.Element {
  return <span class="number">{ageText(Math.max(0, seconds - useSecondsSince()))}</span>;
}
