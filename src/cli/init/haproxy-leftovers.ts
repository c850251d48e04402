// The parts of an haproxy.cfg that are not carried over, each with the reason.
import type { DraftBuilder } from './draft.ts';
import { lastLine, type HaproxyProxy } from './haproxy-proxies.ts';
import type { HaproxyLine, HaproxyText } from './haproxy-text.ts';

/** By the first words of a line. */
const OF_A_LINE = [
  ['timeout client', 'timeout client: nothing to set, sessions end with their client or their member'],
  ['timeout server', 'timeout server: nothing to set, sessions end with their client or their member'],
  ['timeout check', 'timeout check: probe.timeout is 800 ms'],
  ['option clitcpka', 'option clitcpka: client.tcp_keepalives_idle is 30 s'],
  ['option srvtcpka', 'option srvtcpka: backend.tcp_keepalives_idle is 30 s'],
  ['retries', 'retries: backend.connect_attempts is 3, to different members where there are several'],
  ['acl', 'acl: rules have no counterpart; pg_hba.conf of the members decides who may connect'],
  ['tcp-request', 'tcp-request: rules have no counterpart; limits are in the section client'],
  ['stick-table', 'stick-table: balance: client_address keeps a client at its member'],
] as const;

/** By the first word of a line of the section `global`. */
const OF_THE_PROCESS = [
  ['maxconn', 'maxconn of global: client.max_sessions is 10000, over all listeners'],
  ['log', 'log: JSON lines on standard output (section log); journald or the container keeps them'],
] as const;

const OF_A_SERVER = [
  ['inter', 'inter, fall, rise: one probe a second by default (section probe); a change of primary needs one answer'],
  [
    'send-proxy',
    'send-proxy has no counterpart: the members see the address of Pointsman, as they saw that of HAProxy',
  ],
  ['send-proxy-v2', 'send-proxy-v2 has no counterpart: the members see the address of Pointsman'],
  ['backup', 'backup: a pool falls back to the primary alone (fallback); a backup replica is a member like the others'],
  ['weight', 'weight: weights are a tag of the member (pools.NAME.weight_tag)'],
  ['slowstart', 'slowstart: pools.NAME.slow_start is 30 s'],
  ['ssl', 'server … ssl: TLS to the members passes through from the client, it is not started by Pointsman'],
] as const;

export function noteTheRest(
  { sections, global }: HaproxyText,
  proxies: readonly HaproxyProxy[],
  converted: readonly HaproxyProxy[],
  draft: DraftBuilder,
): void {
  noteEndings(converted, draft);
  for (const [start, text] of OF_A_LINE) {
    const line = firstOf(converted, (lines) => lastLine(lines, ...start.split(' ')));
    if (line !== undefined) draft.note(text, line.line);
  }
  for (const [option, text] of OF_A_SERVER) {
    const server = converted.flatMap(({ servers }) => servers).find(({ options }) => options.has(option));
    if (server !== undefined) draft.note(text, server.line);
  }
  const stats = firstOf(proxies, (lines) => lastLine(lines, 'stats', 'enable') ?? lastLine(lines, 'stats', 'uri'));
  if (stats !== undefined) {
    draft.note('the page of statistics: /status and /metrics at admin.address, 127.0.0.1:8432', stats.line);
  }
  for (const [word, text] of OF_THE_PROCESS) {
    const line = lastLine(global, word);
    if (line !== undefined) draft.note(text, line.line);
  }
  const resolvers = sections.find(({ kind }) => kind === 'resolvers');
  if (resolvers !== undefined) draft.note('resolvers: the name servers of the system are asked', resolvers.line);
}

/** HAProxy leaves sessions on a member that is down, unless it is told otherwise. */
function noteEndings(converted: readonly HaproxyProxy[], draft: DraftBuilder): void {
  const servers = converted.flatMap(({ servers }) => servers);
  const careless = servers.find(({ options }) => options.get('on-marked-down') !== 'shutdown-sessions');
  if (careless !== undefined) {
    const text =
      'without on-marked-down shutdown-sessions HAProxy leaves sessions on a replaced primary; Pointsman ends them ' +
      '(pools.NAME.on_leave)';
    draft.note(text, careless.line);
  } else {
    const [first] = servers;
    const text =
      'on-marked-down shutdown-sessions: the defaults of pools.NAME.on_leave close sessions where it is needed';
    if (first !== undefined) draft.note(text, first.line);
  }
  const up = servers.find(({ options }) => options.get('on-marked-up') === 'shutdown-backup-sessions');
  if (up !== undefined) {
    draft.note('on-marked-up shutdown-backup-sessions: on_leave.fallback_over drains them by default', up.line);
  }
}

function firstOf(
  proxies: readonly HaproxyProxy[],
  find: (lines: readonly HaproxyLine[]) => HaproxyLine | undefined,
): HaproxyLine | undefined {
  for (const { lines } of proxies) {
    const line = find(lines);
    if (line !== undefined) return line;
  }
  return undefined;
}
