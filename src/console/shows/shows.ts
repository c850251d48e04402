// Every SHOW by its name: its columns, which are known in advance, and how its rows are read.
import type { BranchesDocument } from '../../documents/branches-document.ts';
import type { SessionsDocument } from '../../documents/sessions-document.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import type { RowColumn } from '../../wire/messages/server-messages.ts';
import { tableOf, text, type Table } from '../console-table.ts';
import { branchColumns, showBranches } from './show-branches.ts';
import { memberColumns, showMembers } from './show-members.ts';
import { databaseColumns, listColumns, poolColumns, showDatabases, showLists, showPools } from './show-pools.ts';
import { settingColumns, showConfig, showVersion, versionColumns, type SettingRow } from './show-settings.ts';
import { endColumns, sessionColumns, showClients, showServers, showSessions } from './show-sessions.ts';
import { showStats, showTotals, statsColumns, totalsColumns } from './show-stats.ts';

/** The sources of everything that is shown. Each is called for the statement that needs it. */
export interface ConsoleSources {
  readonly version: string;
  readonly status: () => Promise<StatusDocument>;
  /** The oldest sessions, up to a limit. */
  readonly sessions: () => Promise<SessionsDocument>;
  /** Undefined: none are configured. */
  readonly branches: () => Promise<BranchesDocument | undefined>;
  readonly settings: () => Promise<readonly SettingRow[]>;
}

export interface Show {
  /** For SHOW HELP. */
  readonly about: string;
  readonly columns: readonly RowColumn[];
  /** Only for clients that logged in with the token. */
  readonly needsToken?: true;
  readonly read: (sources: ConsoleSources) => Table | Promise<Table>;
}

const fromStatus = (about: string, columns: readonly RowColumn[], show: (status: StatusDocument) => Table): Show => ({
  about,
  columns,
  read: async ({ status }) => show(await status()),
});

const helpColumns = text<readonly [string, Show]>({
  statement: ([name]) => `SHOW ${name}`,
  shows: ([, { about }]) => about,
});

export const SHOWS: ReadonlyMap<string, Show> = new Map<string, Show>([
  ['POOLS', fromStatus('clients and server connections of each pool, and its route', poolColumns, showPools)],
  ['MEMBERS', fromStatus('the members of the cluster, and their standing in each pool', memberColumns, showMembers)],
  [
    'BRANCHES',
    {
      about: 'the branches of the database, and where each of them is served',
      columns: branchColumns,
      read: async ({ branches }) => showBranches(await branches()),
    },
  ],
  [
    'SESSIONS',
    {
      about: 'the live sessions one by one (with the token)',
      columns: sessionColumns,
      needsToken: true,
      read: async ({ sessions }) => showSessions(await sessions()),
    },
  ],
  ['STATS', fromStatus('bytes and connections of each pool since the start', statsColumns, showStats)],
  ['STATS_TOTALS', fromStatus('the same without averages', totalsColumns, showTotals)],
  ['DATABASES', fromStatus('where each pool routes to now', databaseColumns, showDatabases)],
  [
    'CLIENTS',
    {
      about: 'the sessions with the columns of PgBouncer (with the token)',
      columns: endColumns,
      needsToken: true,
      read: async ({ sessions }) => showClients(await sessions(), Date.now()),
    },
  ],
  [
    'SERVERS',
    {
      about: 'their connections to members, likewise (with the token)',
      columns: endColumns,
      needsToken: true,
      read: async ({ sessions, status }) => showServers(await sessions(), await status(), Date.now()),
    },
  ],
  ['LISTS', fromStatus('how many pools, clients, server connections and members there are', listColumns, showLists)],
  [
    'CONFIG',
    {
      about: 'the configuration in effect, without secrets',
      columns: settingColumns,
      read: async ({ settings }) => showConfig(await settings()),
    },
  ],
  [
    'VERSION',
    { about: 'the version of Pointsman', columns: versionColumns, read: ({ version }) => showVersion(version) },
  ],
  ['HELP', { about: 'this list', columns: helpColumns, read: () => tableOf(helpColumns, [...SHOWS]) }],
]);
