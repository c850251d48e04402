// The cluster before, during and after an incident.
import type { JSX } from 'preact';
import type { IncidentDocument } from '../../admin/schema/incidents.ts';
import { Panel } from '../components/panel.tsx';
import { clockText } from './words.ts';

type Snapshot = IncidentDocument['snapshots'][number];
type Member = Snapshot['members'][number];

export function Snapshots({ snapshots }: { readonly snapshots: readonly Snapshot[] }): JSX.Element | null {
  if (snapshots.length === 0) return null;
  return (
    <Panel title="The cluster">
      <div class="snapshots">
        {snapshots.map((snapshot, index) => (
          <section key={index} aria-label={`${snapshot.when}, ${clockText(snapshot.time)}`}>
            <h3>
              {snapshot.when} <time dateTime={snapshot.time}>{clockText(snapshot.time)}</time> UTC
            </h3>
            <p>timeline {snapshot.timeline ?? 'unknown'}</p>
            <ul>
              {snapshot.pools.map((pool) => (
                <li key={pool.name}>{poolText(pool)}</li>
              ))}
            </ul>
            <ul>
              {snapshot.members.map((member) => (
                <li key={member.name}>{memberText(member)}</li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Panel>
  );
}

function poolText({ name, route, cause, members, sessions, waiting }: Snapshot['pools'][number]): string {
  const where =
    members.length > 0 ? ` on ${members.join(', ')}` : cause === null ? '' : ` (${cause.replaceAll('_', ' ')})`;
  return `pool ${name}: ${route}${where}, sessions ${sessions}, waiting ${waiting}`;
}

function memberText({ name, role, state, timeline, failing }: Member): string {
  const known = [role, state, timeline === null ? null : `timeline ${timeline}`].filter((part) => part !== null);
  return `${name}: ${[...known, ...(failing === null ? [] : [failing])].join(', ') || 'no answer yet'}`;
}
