// A titled region of the page.
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface PanelProps {
  /** Gives it a place of its own in one column (page.css). */
  readonly place?: 'attention' | 'routes' | 'waiting';
  readonly title: string;
  readonly children: ComponentChildren;
}

export function Panel({ place, title, children }: PanelProps): JSX.Element {
  const id = useId();
  return (
    <section class={`panel panel-${place ?? 'other'}`} aria-labelledby={id}>
      <h2 class="panel-title" id={id}>
        {title}
      </h2>
      {children}
    </section>
  );
}
