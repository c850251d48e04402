// Limits as bars, each with its value.
import type { JSX } from 'preact';
import type { StatusDocument } from '../../documents/status-document.ts';
import { fillOf, limitsOf } from '../view/limits.ts';
import { numberText } from '../view/words.ts';
import { Panel } from './panel.tsx';

export function Limits({ status }: { readonly status: StatusDocument }): JSX.Element {
  return (
    <Panel title="Limits">
      <dl class="limits">
        {limitsOf(status).map((limit) => {
          const { name, value, most, setting } = limit;
          const percent = Math.min(100, most === 0 ? 100 : (value / most) * 100);
          const width = value === 0 ? '0' : `max(3px, ${percent}%)`;
          return (
            <div key={name} title={setting}>
              <dt>{name}</dt>
              <dd class="limits-bar" aria-hidden="true">
                <span class={`limits-fill limits-${fillOf(limit)}`} style={{ width }} />
              </dd>
              <dd class="number end">
                {numberText(value)} / {numberText(most)}
              </dd>
            </div>
          );
        })}
      </dl>
    </Panel>
  );
}
