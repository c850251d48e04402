// All that is known about one member, with the reason for its place in each pool: the sentence of the log, of explain
// and of the client's DETAIL.
import type { JSX } from 'preact';
import type { MemberStatusDocument, PoolStatusDocument } from '../../documents/status-document.ts';
import { reasonsOf } from '../view/routes.ts';
import { Age } from './ticking.tsx';

interface MemberReasonsProps {
  readonly member: MemberStatusDocument;
  readonly pools: readonly PoolStatusDocument[];
}

export function MemberReasons({ member, pools }: MemberReasonsProps): JSX.Element {
  const { api, postgres, origin, drained, failing } = member;
  return (
    <dl class="reasons">
      {reasonsOf(pools, member).map(([pool, why]) => (
        <div key={pool}>
          <dt>{pool}</dt>
          <dd>{why}</dd>
        </div>
      ))}
      {failing !== undefined && (
        <div>
          <dt>newest probe</dt>
          <dd class="bad">{failing.outcome}</dd>
        </div>
      )}
      {drained !== undefined && (
        <div>
          <dt>drained</dt>
          <dd>
            by the operator, <Age seconds={drained.for_seconds} /> ago
          </dd>
        </div>
      )}
      <div>
        <dt>addresses</dt>
        <dd>
          API {api}, PostgreSQL {postgres ?? 'unknown'}, {origin}
        </dd>
      </div>
      {flagsOf(member) !== '' && (
        <div>
          <dt>reports</dt>
          <dd>{flagsOf(member)}</dd>
        </div>
      )}
    </dl>
  );
}

function flagsOf(member: MemberStatusDocument): string {
  return [
    member.paused ? 'the cluster is paused' : '',
    member.cluster_unlocked ? 'nobody holds the leader lock' : '',
    member.failsafe ? 'failsafe mode' : '',
    member.pending_restart ? 'a restart is pending' : '',
  ]
    .filter(Boolean)
    .join(', ');
}
