// The table of members, with their place in each pool and the evidence. Every place opens the reasons in words. On a
// phone each row is a card.
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { MemberStatusDocument } from '../../documents/member-document.ts';
import type { PoolStatusDocument, StatusDocument } from '../../documents/status-document.ts';
import { MOST_MEMBERS } from '../view/routes.ts';
import { evidenceOf, placeIn, signOf } from '../view/standing.ts';
import { useWidth } from '../state/use-width.ts';
import { shortNames } from '../view/short-names.ts';
import { countText, lagText, numberText } from '../view/words.ts';
import { Changing } from './changing.tsx';
import { MemberReasons } from './member-reasons.tsx';
import { Panel } from './panel.tsx';
import { Sign } from './sign.tsx';
import { Age } from './ticking.tsx';

export function Members({ status }: { readonly status: StatusDocument }): JSX.Element {
  const { members, pools, refused_members: refused } = status;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [filter, setFilter] = useState('');
  const shown = members.filter((member) => isMatch(member, filter));
  const nameOf = shortNames(
    members.map(({ name }) => name),
    LONGEST_NAME,
  );
  const toggle = (name: string): void => {
    const next = new Set(open);
    if (!next.delete(name)) next.add(name);
    setOpen(next);
  };
  const table = useRef<HTMLDivElement>(null);
  const width = useWidth(table);
  const longest = Math.max(0, ...shown.map(({ name }) => nameOf(name).length));
  const isTight = width > 0 && width < longest * LETTER + OTHERS + pools.length * PLACE;
  const titles = ['Member', 'Role', 'State', 'TL', 'Lag', ...pools.map(({ name }) => name), 'Sessions', 'Evidence'];
  return (
    <Panel title="Members">
      {members.length > MOST_MEMBERS && (
        <Filter value={filter} change={setFilter} found={shown.length} all={members.length} />
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of members" ref={table}>
        <table class={isTight ? 'table members members-tight' : 'table members'} role="table">
          <thead role="rowgroup">
            <tr role="row">
              {titles.map((title, index) => (
                <th
                  scope="col"
                  role="columnheader"
                  key={`${index} ${title}`}
                  class={CLASSES[title]}
                  title={HELP[title]}
                >
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {shown.map((member) => (
              <Row
                key={member.name}
                member={member}
                text={nameOf(member.name)}
                pools={pools}
                isOpen={open.has(member.name)}
                columns={titles.length}
                toggle={() => toggle(member.name)}
              />
            ))}
            <Refused members={refused} columns={titles.length} />
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

const LONGEST_NAME = 24;
/** Widths of a letter of a name, of a pool's column, and of the other columns together. */
const [LETTER, PLACE, OTHERS] = [7.7, 135, 530];
const CLASSES: Readonly<Record<string, string>> = {
  TL: 'end',
  Lag: 'end',
  Sessions: 'end',
  Evidence: 'members-evidence',
};
const HELP: Readonly<Record<string, string>> = {
  TL: 'timeline',
  Lag: "The primary's position minus the replayed one, as estimated by this Pointsman",
  Evidence: 'The newest answer that decided, and its age',
};

function isMatch({ name, role, state, api }: MemberStatusDocument, filter: string): boolean {
  const words = filter.toLowerCase().split(' ').filter(Boolean);
  const text = [name, role, state, api].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

interface FilterProps {
  readonly value: string;
  readonly change: (value: string) => void;
  readonly found: number;
  readonly all: number;
}

function Filter({ value, change, found, all }: FilterProps): JSX.Element {
  return (
    <p class="members-filter">
      <label>
        Filter{' '}
        <input
          type="search"
          value={value}
          placeholder="name, role, state"
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      </label>
      <span class="quiet number" role="status">
        {numberText(found)} of {countText(all, 'member')}
      </span>
    </p>
  );
}

interface RefusedProps {
  readonly members: StatusDocument['refused_members'];
  readonly columns: number;
}

function Refused({ members, columns }: RefusedProps): JSX.Element {
  return (
    <>
      {members.map(({ name, why }) => (
        <tr role="row" key={name}>
          <th scope="row" role="rowheader">
            {name}
          </th>
          <td role="cell" colSpan={columns - 1}>
            <span class="place">
              <Sign kind="bad" /> not used: {why}
            </span>
          </td>
        </tr>
      ))}
    </>
  );
}

interface MemberRowProps {
  readonly member: MemberStatusDocument;
  /** Its name, as it fits. */
  readonly text: string;
  readonly pools: readonly PoolStatusDocument[];
  readonly isOpen: boolean;
  readonly columns: number;
  readonly toggle: () => void;
}

function Row({ member, text, pools, isOpen, columns, toggle }: MemberRowProps): JSX.Element {
  const { name, state, timeline, lag_bytes: lag, staleness_seconds: staleness } = member;
  const sessions = pools.reduce((sum, pool) => sum + (pool.sessions?.by_member[name] ?? 0), 0);
  const reasons = `reasons-${name}`;
  return (
    <>
      <tr role="row" class={isOpen ? 'members-open' : undefined}>
        <th scope="row" role="rowheader">
          <button
            type="button"
            class="reason-button"
            title={name}
            aria-expanded={isOpen}
            aria-controls={reasons}
            onClick={toggle}
          >
            <Sign kind={signOf(pools, member)} /> {text}
          </button>
        </th>
        <td role="cell" data-title="Role">
          <Changing value={member.role_text ?? '–'} />
        </td>
        <td role="cell" data-title="State">
          {state ?? '–'}
        </td>
        <td role="cell" data-title="Timeline" class="end number">
          {timeline ?? '–'}
        </td>
        <td role="cell" data-title="Lag" class="end number members-lag">
          {lag === null ? '–' : lagText(lag, staleness)}
        </td>
        {pools.map((pool) => {
          const { sign, word } = placeIn(pool, member);
          return (
            <td role="cell" key={pool.name} data-title={pool.name} class="members-place">
              <button type="button" class="reason-button" title={member.pools[pool.name]?.why} onClick={toggle}>
                <Sign kind={sign} /> <Changing value={word} />
              </button>
            </td>
          );
        })}
        <td role="cell" data-title="Sessions" class="end number">
          {numberText(sessions)}
        </td>
        <td role="cell" data-title="Evidence" class="members-evidence">
          <Evidence member={member} pools={pools} />
        </td>
      </tr>
      <tr role="row" id={reasons} hidden={!isOpen}>
        <td role="cell" colSpan={columns}>
          {isOpen && <MemberReasons member={member} pools={pools} />}
        </td>
      </tr>
    </>
  );
}

function Evidence({ member, pools }: Pick<MemberRowProps, 'member' | 'pools'>): JSX.Element {
  const { failing, last_answer_age_seconds: age } = member;
  if (failing !== undefined) {
    return (
      <span class="bad">
        no answer
        <span>
          for <Age seconds={failing.for_seconds} />
        </span>
      </span>
    );
  }
  return (
    <span class="quiet">
      {evidenceOf(pools, member)}
      {age !== null && (
        <span>
          <Age seconds={age} /> ago
        </span>
      )}
    </span>
  );
}
