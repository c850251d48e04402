// A value that fades in when it changes.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export function Changing({ value }: { readonly value: string }): JSX.Element {
  const before = useRef(value);
  const isNew = before.current !== value;
  useEffect(() => {
    before.current = value;
  }, [value]);
  return (
    <span key={value} class={isNew ? 'changed' : undefined}>
      {value}
    </span>
  );
}
