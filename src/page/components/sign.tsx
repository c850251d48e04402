// A standing as a shape, so that it reads without colour: full circle, empty circle, triangle, cross. A word beside it
// says the same.
import type { JSX } from 'preact';
import type { Sign as Kind } from '../view/standing.ts';

const SIGNS: Readonly<Record<Kind, { readonly tone: string; readonly shape: JSX.Element }>> = {
  routed: { tone: 'good', shape: <circle cx="7" cy="7" r="5.5" class="sign-full" /> },
  idle: { tone: 'quiet', shape: <circle cx="7" cy="7" r="4.6" class="sign-line" /> },
  warning: { tone: 'warning', shape: <path d="M7 1 13.2 12.5H.8Z" class="sign-full" /> },
  bad: { tone: 'bad', shape: <path d="M2.2 2.2 11.8 11.8M11.8 2.2 2.2 11.8" class="sign-line" /> },
};

export function Sign({ kind }: { readonly kind: Kind }): JSX.Element {
  const { tone, shape } = SIGNS[kind];
  return (
    <svg class={`sign ${tone}`} width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      {shape}
    </svg>
  );
}
