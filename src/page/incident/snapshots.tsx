// The cluster before, during and after an incident.
import type { JSX } from 'preact';
import type { IncidentDocument } from '../../documents/incident-list.ts';
import { Panel } from '../components/panel.tsx';
import { clockText } from './words.ts';

type SnapshotDocument = IncidentDocument['snapshots'][number];
type SnapshotMember = SnapshotDocument['members'][number];

export function Snapshots({ snapshots }: { readonly snapshots: readonly SnapshotDocument[] }): JSX.Element | null {
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

function poolText(pool: SnapshotDocument['pools'][number]): string {
  const { name, route, cause, members, sessions, connecting, closing, waiting } = pool;
  const where =
    members.length > 0 ? ` on ${members.join(', ')}` : cause === null ? '' : ` (${cause.replaceAll('_', ' ')})`;
  const more = `${connecting === 0 ? '' : `, connecting ${connecting}`}${closing === 0 ? '' : `, closing ${closing}`}`;
  return `pool ${name}: ${route}${where}, sessions ${sessions}${more}, waiting ${waiting}`;
}

function memberText({ name, role, state, timeline, failing }: SnapshotMember): string {
  const known = [role, state, timeline === null ? null : `timeline ${timeline}`].filter((part) => part !== null);
  const reports = known.join(', ') || 'no answer yet';
  return failing === null ? `${name}: ${reports}` : `${name}: no answer (${failing}); before: ${reports}`;
}
