// The list of branches and the sessions on them, in one line: `branches list` has each branch. Pure.
import { countText } from '../../core/describe.ts';
import { shown } from '../../model/printable.ts';
import type { Paint } from '../terminal/colour.ts';
import { ageText } from './cells.ts';
import type { Status } from './read-status.ts';

type List = NonNullable<Status['branches']>;

/** Empty if no branches are configured. */
export function branchesText({ branches }: Status, paint: Paint): string {
  if (branches === undefined) return '';
  const count = branches.branches === 1 ? '1 branch' : `${branches.branches} branches`;
  const facts = [`${count} (${shown(branches.source)})`, ...ageOf(branches), ...sessionsOf(branches)];
  return `${paint('strong', 'branches')}  ${facts.join(', ')}\n`;
}

/** That of the configuration never grows old. */
function ageOf({ source, age_seconds: age }: List): readonly string[] {
  if (source === 'static') return [];
  return [age === null ? 'no list yet' : `read ${ageText(age)} ago`];
}

function sessionsOf({ sessions }: List): readonly string[] {
  const { relaying = 0, holding = 0, dialing = 0 } = sessions?.by_state ?? {};
  const waiting = holding + dialing;
  return [
    countText(relaying, 'session'),
    ...(waiting === 0 ? [] : [waiting === 1 ? '1 client waits' : `${waiting} clients wait`]),
  ];
}
