// The part of `check --live` about TLS with the members: what each one offers, whether `backend.tls` accepts it, and
// which settings would suit what was seen without a login.
import type { MemberTls } from '../model/member-tls.ts';
import type { MemberName } from '../model/member.ts';
import { tableText } from './terminal/terminal-table.ts';
import type { Paint } from './terminal/colour.ts';

export interface MemberCertificate {
  /** The names that it is for: `pg-1.db.example`, `10.0.0.11`. */
  readonly names: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** It is for the host of the member's address. */
  readonly isForHost: boolean;
}

export interface MemberTlsReport {
  readonly member: MemberName;
  /** `unknown`: it did not say. */
  readonly offer: 'offered' | 'none' | 'unknown';
  /** Undefined: none was seen. */
  readonly certificate: MemberCertificate | undefined;
  /** Why `backend.tls` does not accept it. Undefined: it does, or `backend.tls` is off. */
  readonly why: string | undefined;
}

export interface TlsReport {
  readonly mode: MemberTls['mode'] | 'off';
  /** The members whose PostgreSQL ports accept connections. */
  readonly members: readonly MemberTlsReport[];
}

/** Settings of `backend.tls`, beside `ca_file`, that suit the certificates of all members. */
export interface TlsAdvice {
  readonly mode: MemberTls['mode'];
  readonly serverName: string | undefined;
}

/** Undefined: there is a member without TLS, or none was seen. Whether an authority can be trusted is not seen here. */
export function tlsAdvice({ members }: TlsReport): TlsAdvice | undefined {
  const certificates = members.flatMap(({ certificate }) => certificate ?? []);
  if (certificates.length === 0 || certificates.length < members.length) return undefined;
  if (certificates.every(({ isForHost }) => isForHost)) return { mode: 'verify-full', serverName: undefined };
  const patterns = members.map(({ member, certificate }) => patternsOf(member, certificate?.names ?? []));
  const [first = [], ...others] = patterns;
  const serverName = first.find((pattern) => others.every((other) => other.includes(pattern)));
  return { mode: serverName === undefined ? 'verify-ca' : 'verify-full', serverName };
}

/** Values of `server_name` that these names meet: those with the name of the member, then the names themselves. */
function patternsOf(member: MemberName, names: readonly string[]): readonly string[] {
  const hosts = names.filter((name) => !name.startsWith('*.'));
  const templates = hosts.flatMap((name) => {
    const [label = '', ...rest] = name.split('.');
    return label === member ? [['{member}', ...rest].join('.')] : [];
  });
  const wildcards = names.filter((name) => name.startsWith('*.')).map((name) => name.replace('*', '{member}'));
  return [...templates, ...wildcards, ...hosts];
}

/** `backend.tls: { mode: verify-full, ca_file: FILE }` */
export function adviceText({ mode, serverName }: TlsAdvice): string {
  const name = serverName === undefined ? '' : `, server_name: '${serverName}'`;
  return `backend.tls: { mode: ${mode}, ca_file: FILE${name} }`;
}

/** Empty: nothing was seen. */
export function tlsText(report: TlsReport, paint: Paint, width: number): string {
  const { mode, members } = report;
  const seen = members.filter(({ offer, why }) => offer !== 'unknown' || why !== undefined);
  if (seen.length === 0) return '';
  if (mode === 'off' && seen.every(({ offer }) => offer === 'none')) {
    return 'TLS with members: off, and no member offers it\n';
  }
  const columns = [
    { title: 'MEMBER' },
    { title: 'TLS' },
    { title: 'EXPIRES' },
    { title: 'CERTIFICATE FOR', wraps: true },
  ] as const;
  const rows = seen.map(({ member, offer, why, certificate }) => [
    member,
    mode === 'off' ? OFFERS[offer] : why === undefined ? paint('good', 'verified') : paint('bad', 'refused'),
    certificate === undefined ? '' : dayOf(certificate.expiresAt),
    certificate?.names.join(', ') ?? '',
  ]);
  return `\nTLS with members: ${mode} (backend.tls.mode)\n${tableText(columns, rows, width)}${hint(report)}`;
}

/** Settings for members that offer TLS, where `backend.tls` is off. */
function hint(report: TlsReport): string {
  if (report.mode !== 'off') return '';
  const advice = tlsAdvice(report);
  if (advice !== undefined)
    return `Every member offers TLS. These settings suit their certificates: ${adviceText(advice)}\n`;
  const without = report.members.filter(({ offer }) => offer === 'none').map(({ member }) => member);
  return without.length === 0 ? '' : `backend.tls needs TLS at every member, and ${without.join(', ')} has none.\n`;
}

const OFFERS: Readonly<Record<MemberTlsReport['offer'], string>> = {
  offered: 'offered',
  none: 'none',
  unknown: 'no answer',
};

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** One sentence for each member that gets no session because of `backend.tls`. */
export function tlsFaults({ members }: TlsReport): ReadonlyMap<MemberName, string> {
  return new Map(
    members.flatMap(({ member, why }) => (why === undefined ? [] : [[member, `TLS with ${member}: ${why}`] as const])),
  );
}

/** The part of `check --json`. */
export function tlsDocument(report: TlsReport): object {
  const advice = tlsAdvice(report);
  return {
    mode: report.mode,
    members: report.members.map(({ member, offer, certificate, why }) => ({
      member,
      offer,
      verified: report.mode === 'off' ? null : why === undefined,
      why: why ?? null,
      names: certificate?.names ?? null,
      expires: certificate === undefined ? null : new Date(certificate.expiresAt).toISOString(),
    })),
    suits: advice === undefined ? null : { mode: advice.mode, server_name: advice.serverName ?? null },
  };
}
