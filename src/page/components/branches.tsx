// The branches, where they are configured: the state of their list, and those in use.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { BranchDocument, BranchesDocument } from '../../admin/schema/branches.ts';
import type { StatusDocument } from '../../admin/schema/status.ts';
import { get } from '../operate/requests.ts';
import { branchesInOrder, branchesText, MOST_BRANCHES } from '../view/branches.ts';
import { countText, numberText, shortened, sizeText } from '../view/words.ts';
import { Panel } from './panel.tsx';
import { Age } from './ticking.tsx';

type List = NonNullable<StatusDocument['branches']>;

/** The list is read again not more often than this. */
const LEAST_MS = 2000;
const LONGEST_NAME = 32;
const TITLES = ['Branch', 'Parent', 'Behind parent', 'Written', 'Backend', 'Sessions'] as const;
const NUMBERS: ReadonlySet<string> = new Set(['Behind parent', 'Written', 'Sessions']);

export function Branches({ status: { branches } }: { readonly status: StatusDocument }): JSX.Element | null {
  return branches === undefined ? null : <BranchesPanel list={branches} />;
}

function BranchesPanel({ list }: { readonly list: List }): JSX.Element {
  const { branches, why } = useBranches(list);
  const { age_seconds: age, failing } = list;
  const shown = branches === undefined ? [] : branchesInOrder(branches).slice(0, MOST_BRANCHES);
  const others = (branches?.length ?? 0) - shown.length;
  return (
    <Panel title="Branches">
      <p class="branches-list">
        {branchesText(list)}
        <span class={failing === null ? 'quiet' : 'branches-failing'}>
          {' · '}
          {age === null ? (
            'no list yet'
          ) : (
            <>
              list {failing === null ? '' : 'still in use, '}read <Age seconds={age} /> ago
            </>
          )}
          {` (${list.source})`}
        </span>
      </p>
      {branches === undefined ? (
        <p class="branches-list quiet">{why ?? 'Reading the branches …'}</p>
      ) : (
        shown.length > 0 && <Table branches={shown} />
      )}
      {others > 0 && (
        <p class="branches-list quiet">
          {countText(others, 'other branch', 'other branches')}: pointsman branches list
        </p>
      )}
    </Panel>
  );
}

function Table({ branches }: { readonly branches: readonly BranchDocument[] }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of branches">
      <table class="table branches">
        <thead>
          <tr>
            {TITLES.map((title) => (
              <th scope="col" key={title} class={NUMBERS.has(title) ? 'end' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {branches.map((branch) => (
            <Row key={branch.id} branch={branch} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ branch }: { readonly branch: BranchDocument }): JSX.Element {
  const { id, name, backend, why_no_backend: why, sessions } = branch;
  return (
    <tr>
      <th scope="row" title={id === name ? undefined : id}>
        {shortened(name, LONGEST_NAME)}
      </th>
      <td>{shortened(branch.parent_name ?? branch.parent_id ?? '–', LONGEST_NAME)}</td>
      <td class="end number">{distanceText(branch.behind_parent_bytes)}</td>
      <td class="end number">{distanceText(branch.written_bytes)}</td>
      <td class={backend === null ? 'branches-none' : undefined}>{backend ?? `not routed: ${why ?? 'unknown'}`}</td>
      <td class="end number">{numberText(sessions)}</td>
    </tr>
  );
}

function distanceText(bytes: number | null): string {
  return bytes === null ? '–' : sizeText(bytes);
}

interface Read {
  readonly branches: readonly BranchDocument[] | undefined;
  /** Why they cannot be shown. */
  readonly why: string | undefined;
}

/** Reads them again when the list or the sessions have changed. */
function useBranches({ read_at: readAt, branches: count, sessions }: List): Read {
  const [found, setFound] = useState<Read>({ branches: undefined, why: undefined });
  const askedAt = useRef(-Infinity);
  const { relaying, holding, dialing } = sessions?.by_state ?? {};
  useEffect(() => {
    let isGone = false;
    const read = async (): Promise<void> => {
      askedAt.current = performance.now();
      const answer = await get<BranchesDocument>('branches');
      if (isGone) return;
      if (answer.kind === 'done') setFound({ branches: answer.body.branches, why: undefined });
      else setFound((before) => ({ ...before, why: answer.why }));
    };
    const timer = setTimeout(() => void read(), Math.max(0, askedAt.current + LEAST_MS - performance.now()));
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [readAt, count, relaying, holding, dialing]);
  return found;
}
