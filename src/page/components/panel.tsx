// A titled region of the page.
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface PanelProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

export function Panel({ title, children }: PanelProps): JSX.Element {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 class="panel-title" id={id}>
        {title}
      </h2>
      {children}
    </section>
  );
}
