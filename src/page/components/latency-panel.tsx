// How fast each member answers, and its share of new sessions. Only pools with `balance: latency` are shown.
import type { JSX } from 'preact';
import type { StatusDocument } from '../../documents/status-document.ts';
import { Panel } from './panel.tsx';

export function Latency({ status: { pools, members } }: { readonly status: StatusDocument }): JSX.Element | null {
  const measured = pools.filter(({ sessions }) => sessions?.latency !== undefined);
  if (measured.length === 0) return null;
  return (
    <Panel title="Latency">
      {measured.map(({ name, sessions }) => (
        <dl key={name} class="latency" aria-label={`pool ${name}`}>
          {members.map(({ name: member }) => {
            const latency = sessions?.latency?.[member];
            if (latency === undefined) return null;
            return (
              <div key={member}>
                <dt>
                  <b>{member}</b> <span class="quiet">in {name}</span>
                </dt>
                <dd class="quiet number">{latency.summary}</dd>
              </div>
            );
          })}
        </dl>
      ))}
    </Panel>
  );
}
