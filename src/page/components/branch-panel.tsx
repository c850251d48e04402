// The branches, where they are configured: the state of their list, and those in use.
import type { JSX } from 'preact';
import type { BranchDocument, BranchesDocument } from '../../documents/branches-document.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import { useDocument } from '../state/use-document.ts';
import { branchesInOrder, branchesText, MOST_BRANCHES } from '../view/branch-words.ts';
import { countText, numberText, shortened, sizeText } from '../view/words.ts';
import { Panel } from './panel.tsx';
import { Age } from './ticking.tsx';

type BranchListState = NonNullable<StatusDocument['branches']>;

/** The list is read again not more often than this. */
const LEAST_MS = 2000;
const LONGEST_NAME = 32;

interface BranchColumn {
  readonly title: string;
  readonly isNumber?: true;
  /** Left out on a phone. */
  readonly isMore?: true;
  readonly cell: (branch: BranchDocument) => string;
}

const NONE = '–';

const COLUMNS: readonly BranchColumn[] = [
  { title: 'Parent', isMore: true, cell: (branch) => shortened(parentOf(branch), LONGEST_NAME) },
  { title: 'Behind parent', isNumber: true, isMore: true, cell: (branch) => distanceText(branch.behind_parent_bytes) },
  { title: 'Written', isNumber: true, isMore: true, cell: (branch) => distanceText(branch.written_bytes) },
  { title: 'Sessions', isNumber: true, cell: ({ sessions }) => numberText(sessions) },
];

export function Branches({ status: { branches } }: { readonly status: StatusDocument }): JSX.Element | null {
  return branches === undefined ? null : <BranchesPanel list={branches} />;
}

function BranchesPanel({ list }: { readonly list: BranchListState }): JSX.Element {
  const { relaying, holding, dialing } = list.sessions?.by_state ?? {};
  const { body, why } = useDocument<BranchesDocument>('branches', {
    causes: [list.read_at, list.branches, relaying, holding, dialing],
    leastMs: LEAST_MS,
  });
  const branches = body?.branches;
  const shown = branches === undefined ? [] : branchesInOrder(branches).slice(0, MOST_BRANCHES);
  const others = (branches?.length ?? 0) - shown.length;
  return (
    <Panel title="Branches">
      <p class="branches-list">
        {branchesText(list)} <ListAge list={list} />
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

/** The list of the configuration never grows old. */
function ListAge({ list: { source, age_seconds: age, failing } }: { readonly list: BranchListState }): JSX.Element {
  if (source === 'static') return <span class="quiet">· from the configuration</span>;
  const still = failing === null ? '' : 'still in use, ';
  return (
    <span class={failing === null ? 'quiet' : 'warning'}>
      {'· '}
      {age === null ? (
        'no list yet'
      ) : (
        <>
          list of the {source === 'storage' ? 'storage node' : source}, {still}read <Age seconds={age} /> ago
        </>
      )}
    </span>
  );
}

/** Without the columns that the source does not report. */
function Table({ branches }: { readonly branches: readonly BranchDocument[] }): JSX.Element {
  const columns = COLUMNS.filter(({ cell }) => branches.some((branch) => cell(branch) !== NONE));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of branches">
      <table class="table branches">
        <thead>
          <tr>
            <th scope="col">Branch</th>
            {columns.map((column) => (
              <th scope="col" key={column.title} class={classOf(column)}>
                {column.title}
              </th>
            ))}
            <th scope="col">Backend</th>
          </tr>
        </thead>
        <tbody>
          {branches.map((branch) => (
            <Row key={branch.id} branch={branch} columns={columns} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface BranchRowProps {
  readonly branch: BranchDocument;
  readonly columns: readonly BranchColumn[];
}

function Row({ branch, columns }: BranchRowProps): JSX.Element {
  const { id, name, backend, why_no_backend: why } = branch;
  return (
    <tr>
      <th scope="row" title={id === name ? undefined : id}>
        {shortened(name, LONGEST_NAME)}
      </th>
      {columns.map((column) => (
        <td key={column.title} class={classOf(column)}>
          {column.cell(branch)}
        </td>
      ))}
      <td class={backend === null ? 'quiet' : undefined}>{backend ?? `not routed: ${why ?? 'unknown'}`}</td>
    </tr>
  );
}

function classOf({ isNumber, isMore }: BranchColumn): string {
  return `${isNumber ? 'end number' : ''} ${isMore ? 'branches-more' : ''}`;
}

function parentOf(branch: BranchDocument): string {
  return branch.parent_name ?? branch.parent_id ?? NONE;
}

function distanceText(bytes: number | null): string {
  return bytes === null ? NONE : sizeText(bytes);
}
