// All that is known about one member, with the reason for its place in each pool: the sentence of the log, of explain
// and of the client's DETAIL.
import type { ComponentChildren, JSX } from 'preact';
import type { MemberStatusDocument } from '../../documents/member-document.ts';
import type { PoolStatusDocument } from '../../documents/status-document.ts';
import { reasonsOf } from '../view/routes.ts';
import { Age } from './ticking.tsx';

interface MemberReasonsProps {
  readonly member: MemberStatusDocument;
  readonly pools: readonly PoolStatusDocument[];
}

export function MemberReasons({ member, pools }: MemberReasonsProps): JSX.Element {
  const { api, postgres, origin, drained, failing } = member;
  const flags = flagsOf(member);
  return (
    <dl class="reasons">
      {reasonsOf(pools, member).map(([pool, why]) => (
        <Fact key={pool} name={pool}>
          {why}
        </Fact>
      ))}
      {failing !== undefined && (
        <Fact name="newest probe">
          <span class="bad">{failing.outcome}</span>
        </Fact>
      )}
      {drained !== undefined && (
        <Fact name="drained">
          by the operator, <Age seconds={drained.for_seconds} /> ago
        </Fact>
      )}
      <Fact name="addresses">
        API {api}, PostgreSQL {postgres ?? 'unknown'}, {origin}
      </Fact>
      {flags !== '' && <Fact name="reports">{flags}</Fact>}
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
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
