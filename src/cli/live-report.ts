// The result of `check --live`, as text and as JSON.
import { countText } from '../core/describe.ts';
import { addressText } from '../model/member.ts';
import { EXIT, type CliIo } from './io.ts';
import { foundBy, problemsIn, refusedMembers, warningsIn } from './live-check.ts';
import type {
  BranchesReport,
  LiveReport,
  ProbedMember,
  ReachableSeed,
  SeedReport,
  VerifiersReport,
} from './live-check.ts';
import { tlsDocument, tlsText } from './member-tls-report.ts';
import { positionsText } from './positions-report.ts';
import { paintFor } from './terminal/colour.ts';
import { tableText, widthFor } from './terminal/terminal-table.ts';

const PORT_WORDS = { accepts: 'accepts', refused: 'refuses', silent: 'no answer', unknown: 'not tried' } as const;

/** Prints facts on standard output and problems on standard error. Returns the exit code. */
export function showLive(report: LiveReport, io: CliIo): number {
  for (const seed of report.seeds) {
    if (seed.kind === 'found') io.stdout(seedText(seed));
    else io.stderr(`${seed.url}: ${seed.why.replace(`${seed.url}: `, '')}\n`);
  }
  if (report.members.length > 0) io.stdout(membersText(report, io));
  if (report.tls !== undefined) io.stdout(tlsText(report.tls, paintFor(io), widthFor(io)));
  if (report.branches?.kind === 'read') io.stdout(branchesText(report.branches));
  if (report.verifiers?.kind === 'read') io.stdout(verifiersText(report.verifiers));
  if (report.positions !== undefined) io.stdout(positionsText(report.positions));
  const problems = problemsIn(report);
  for (const warning of warningsIn(report)) io.stderr(`warning: ${warning}\n`);
  for (const problem of problems) io.stderr(`${problem}\n`);
  if (problems.length > 0) io.stderr(`${countText(problems.length, 'problem')}.\n`);
  return problems.length === 0 ? EXIT.ok : EXIT.failure;
}

function seedText({ url, scope, leader, contactPoints, refused }: ReachableSeed): string {
  const lines = [
    `${url}: cluster ${scope ?? '(no name)'}, leader ${leader ?? 'none'}`,
    ...(contactPoints.length === 0 ? [] : [`  contact points: ${contactPoints.join(', ')}`]),
    ...refused.map(({ name, why }) => `  ${name}  not used: ${why}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** The table of the members, and a line for each pool. */
function membersText({ members, pools }: LiveReport, io: CliIo): string {
  const paint = paintFor(io);
  const columns = [
    { title: 'MEMBER' },
    { title: 'POSTGRESQL' },
    { title: 'PORT' },
    { title: 'ROLE' },
    { title: 'POOLS', wraps: true },
  ] as const;
  const rows = members.map(({ name, postgres, port, role, pools: own, why }) => [
    name,
    postgres ?? 'unknown',
    paint(port === 'accepts' ? 'good' : 'bad', PORT_WORDS[port]),
    role ?? 'unknown',
    own.length > 0 ? own.join(', ') : `none: ${why ?? 'not probed'}`,
  ]);
  const routes = pools.map(
    ({ name, check, members: routed, why }) =>
      `pool ${name} (${check}): ${paint(routed.length > 0 ? 'good' : 'bad', why)}\n`,
  );
  return `\n${tableText(columns, rows, widthFor(io))}${routes.join('')}`;
}

function branchesText({ branches, routed }: Extract<BranchesReport, { kind: 'read' }>): string {
  return `branches: ${branches} in the list, ${routed} of them can be reached as DATABASE@BRANCH\n`;
}

function verifiersText({ from, roles }: Extract<VerifiersReport, { kind: 'read' }>): string {
  if (roles.length === 0) return `verifiers: ${from} answers; moves.roles has patterns alone, so no role was tried\n`;
  const usable = roles.filter(({ why }) => why === undefined).map(({ role }) => role);
  return `verifiers: ${from} has those of ${usable.length} of ${roles.length} roles: ${usable.join(', ') || 'none'}\n`;
}

/** The part `live` of `check --json`. Null: unknown, or not configured. */
export function liveDocument(report: LiveReport): object {
  return {
    scope: report.scope ?? null,
    leader: foundBy(report).find(({ leader }) => leader !== undefined)?.leader ?? null,
    seeds: report.seeds.map(seedDocument),
    members: report.members.map(memberDocument),
    refused_members: refusedMembers(report).map(({ name, reason, why }) => ({ name, reason, why })),
    pools: report.pools,
    branches: report.branches === undefined ? null : branchesPart(report.branches),
    verifiers: report.verifiers === undefined ? null : verifiersPart(report.verifiers),
    unread_verifiers: report.unreadVerifiers ?? [],
    positions:
      report.positions?.map(({ member, why }) => ({ member, answers: why === undefined, why: why ?? null })) ?? null,
    tls: report.tls === undefined ? null : tlsDocument(report.tls),
  };
}

function branchesPart(report: BranchesReport): object {
  if (report.kind === 'failed') return { readable: false, why: report.why };
  const { branches, routed, unreachable } = report;
  return { readable: true, listed: branches, routed, unreachable };
}

function verifiersPart(report: VerifiersReport): object {
  if (report.kind !== 'read') return { readable: report.kind === 'failed' ? false : null, why: report.why };
  const roles = report.roles.map(({ role, why }) => ({ role, usable: why === undefined, why: why ?? null }));
  return { readable: true, from: report.from, roles };
}

function seedDocument(seed: SeedReport): object {
  if (seed.kind === 'failed') return { url: seed.url, answers: false, why: seed.why };
  const { url, scope = null, leader = null, contactPoints, members } = seed;
  const listed = members.map(({ name, postgres }) => ({
    name,
    postgres: postgres === undefined ? null : addressText(postgres),
  }));
  return { url, answers: true, scope, leader, contact_points: contactPoints, members: listed };
}

function memberDocument({ name, api, postgres, port, role, pools, why }: ProbedMember): object {
  return { name, api, postgres: postgres ?? null, port, role: role ?? null, pools, why: why ?? null };
}
