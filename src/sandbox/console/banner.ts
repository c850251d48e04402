// The text that a person reads when the sandbox is up: addresses, and commands to copy. Pure.
import { ADMIN_TOKEN, type Addresses } from './pointsman-config.ts';
import type { SandboxMember, SandboxPlatform } from '../sandbox.ts';
import { quoted } from './connection-url.ts';
import { VERBS } from './verb-list.ts';

export interface BannerFacts extends Addresses {
  readonly members: readonly SandboxMember[];
  readonly leader: string | undefined;
  /** 18.4 */
  readonly postgresVersion: string;
  readonly tookMs: number;
  /** The command that calls this program from a second terminal: `pointsman sandbox`. */
  readonly command: string;
  /** The command that calls the whole program: `pointsman`. */
  readonly program: string;
  /** The configuration file for commands about branches, moves and the platform. Undefined: it has none of them. */
  readonly commandsConfig: string | undefined;
  readonly hasBranches: boolean;
  readonly hasMoves: boolean;
  readonly hasCausalReads: boolean;
  readonly platform: SandboxPlatform | undefined;
  /** With psql the banner shows psql commands, without it commands of this program. */
  readonly hasPsql: boolean;
}

export const WRITE_STATEMENT = 'insert into visits default values returning *';
export const READ_STATEMENT =
  "select count(*) as visits, max(id) as latest, current_setting('cluster_name') as read_from from visits";

export function banner(facts: BannerFacts): string {
  const { members, leader, postgresVersion, tookMs, admin, command, program } = facts;
  const others = VERBS.map(({ name }) => name).filter((name) => name !== 'kill');
  const widths = [Math.max(...members.map(({ name }) => name.length)), 21];
  const rows = members.map(({ name, host, port, api }) =>
    ['', name.padEnd(widths[0] ?? 0), `${host}:${port}`.padEnd(widths[1] ?? 0), api, name === leader ? ' primary' : '']
      .join('  ')
      .trimEnd(),
  );
  return [
    '',
    `PostgreSQL ${postgresVersion}, ${members.length} members behind Pointsman; up in ${(tookMs / 1000).toFixed(1)} s.`,
    'For trials and tests, not for data: everything is removed at the end.',
    '',
    ...rows,
    '',
    `  Write    ${statement(facts, 'write', WRITE_STATEMENT)}`,
    `  Read     ${statement(facts, 'read', READ_STATEMENT)}`,
    `  Page     http://${admin}/     # its operations take the token ${ADMIN_TOKEN}`,
    `  Status   curl -s http://${admin}/status`,
    `  Metrics  curl -s http://${admin}/metrics`,
    `  Operate  POINTSMAN_ADMIN_TOKEN=${ADMIN_TOKEN} ${program} switchover --admin ${admin}     # or drain, sessions …`,
    `  Break    ${command} kill primary     # or ${others.join(', ')}: --help says more`,
    `  Traffic  ${command} traffic     # 20 writes a second, until the same again`,
    `  Config   ${command} config > second.yaml     # for a second Pointsman, and for check --live`,
    ...moveLines(facts),
    ...readLines(facts),
    ...branchLines(facts),
    ...platformLines(facts),
    '',
  ].join('\n');
}

function moveLines({ hasMoves, commandsConfig, program, write, hasPsql }: BannerFacts): readonly string[] {
  if (!hasMoves || commandsConfig === undefined) return [];
  const lines = [
    ...(hasPsql ? [`psql ${quoted(write)}     # leave it open, and in another terminal:`] : []),
    `${program} switchover -c ${commandsConfig}     # open sessions go on at the next primary`,
    `${program} sessions -c ${commandsConfig}     # the column MOVES says which can; explain ID says why`,
  ];
  return lines.map((line, index) => `  ${(index === 0 ? 'Moves' : '').padEnd(8)} ${line}`);
}

function readLines({ hasCausalReads, commandsConfig, command, program }: BannerFacts): readonly string[] {
  if (!hasCausalReads || commandsConfig === undefined) return [];
  return [
    `  Reads    ${command} traffic     # 5 times a second a new row is read on the read port: none is missed`,
    `           ${command} slow replica     # now reads wait there, are late, and move; heal ends it`,
    `           ${program} sessions -c ${commandsConfig}     # read waits; explain ID says for what`,
  ];
}

function branchLines({ hasBranches, commandsConfig, program, write }: BannerFacts): readonly string[] {
  if (!hasBranches || commandsConfig === undefined) return [];
  return [
    `  Branch   ${program} branches create pr-1 -c ${commandsConfig}     # or list, explain, delete`,
    `           psql ${write}@pr-1     # the rows of the cluster at that moment, and writes of its own`,
  ];
}

function platformLines({ platform, commandsConfig, program }: BannerFacts): readonly string[] {
  if (platform === undefined || commandsConfig === undefined) return [];
  return [
    `  Platform ${program} skill publish deploy/skills/pointsman-runbook --create -c ${commandsConfig}     # or list`,
    `           ${program} incidents upload latest -c ${commandsConfig}     # after a kill; then: incidents request`,
    `           ${platform.messageCheck}     # says whether a platform would take that request`,
  ];
}

function statement({ hasPsql, command, ...urls }: BannerFacts, pool: 'write' | 'read', text: string): string {
  if (hasPsql) return `psql ${quoted(urls[pool])} -c "${text}"`;
  return `${command} sql ${pool === 'read' ? '--pool read ' : ''}"${text}"`;
}
