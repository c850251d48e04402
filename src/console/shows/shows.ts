// Every SHOW by its name.
import { showOf, text, type Show } from '../console-table.ts';
import { BRANCHES } from './show-branches.ts';
import { MEMBERS } from './show-members.ts';
import { DATABASES, LISTS, POOLS } from './show-pools.ts';
import { CONFIG, VERSION } from './show-settings.ts';
import { CLIENTS, SERVERS, SESSIONS } from './show-sessions.ts';
import { STATS, STATS_TOTALS } from './show-stats.ts';

const HELP = showOf(
  'this list',
  text<readonly [string, Show]>({ statement: ([name]) => `SHOW ${name}`, shows: ([, { about }]) => about }),
  () => ({ rows: [...SHOWS] }),
);

export const SHOWS: ReadonlyMap<string, Show> = new Map(
  Object.entries({
    POOLS,
    MEMBERS,
    BRANCHES,
    SESSIONS,
    STATS,
    STATS_TOTALS,
    DATABASES,
    CLIENTS,
    SERVERS,
    LISTS,
    CONFIG,
    VERSION,
    HELP,
  }),
);
