// One probe: the GET of a check on one member, read into the core's ProbeOutcome. Says what was answered, never what it
// means: a redirect, a stranger's error page or half a document is no evidence.
import type { Check } from '../model/check.ts';
import type { Member } from '../model/member.ts';
import type { FailureCause, PortState, ProbeOutcome } from '../model/observation.ts';
import { get } from './http.ts';
import { parseNodeStatus } from './node-status.ts';
import { askPort } from './port-state.ts';
import type { TlsSource } from './tls-files.ts';

export interface ProbeOptions {
  readonly tls?: TlsSource | undefined;
}

/** Asks `member` the check; `deadlineMs` bounds the request. Never rejects. Ends at most 300 ms after the deadline. */
export type Probe = (member: Member, check: Check, deadlineMs: number) => Promise<ProbeOutcome>;

/** The PostgreSQL port gets what is left of the deadline, and at least this. */
const PORT_QUESTION_MS = 300;

/** The part of the deadline after which the PostgreSQL port is asked when the API has not accepted the connection. */
const EARLY = 1 / 4;
/** The part of the deadline that the API's TCP connect may take. */
const CONNECT = 1 / 2;

/** After these the API said nothing at all, so the PostgreSQL port is asked too. */
const SILENT: readonly FailureCause[] = ['timeout', 'reset', 'unreachable'];

/** Patroni answers these two with a bare status line. */
const BODILESS: readonly string[] = ['/liveness', '/readiness'];

export function createProbe(options: ProbeOptions = {}): Probe {
  return async (member, check, deadlineMs) => {
    const endsAt = performance.now() + deadlineMs;
    let postgres: Promise<PortState> | undefined;
    const askPostgres = (atMostMs = endsAt - performance.now()): Promise<PortState> =>
      (postgres ??= askPort(member.postgres, Math.max(PORT_QUESTION_MS, atMostMs)));
    // Where the host is gone neither port answers, so the second question does not wait for the end of the first.
    const early = setTimeout(() => void askPostgres(0), deadlineMs * EARLY);
    const result = await get({
      api: member.api,
      path: check.text,
      deadlineMs,
      connectMs: deadlineMs * CONNECT,
      onConnected: () => clearTimeout(early),
      tls: options.tls,
    });
    clearTimeout(early);
    switch (result.kind) {
      case 'answered':
        return judge(check, result.status, result.body);
      case 'refused':
        return { kind: 'refused', postgres: await askPostgres() };
      case 'failed': {
        const postgres = SILENT.includes(result.cause) ? await askPostgres() : 'unknown';
        return { ...result, postgres };
      }
    }
  };
}

function judge(check: Check, status: number, body: string): ProbeOutcome {
  if (status >= 300 && status < 400) return failed('redirect', `status ${status}, which is not followed`);
  if (status !== 200 && status !== 503) return failed('unexpected_status', `status ${status}`);
  if (body === '' && BODILESS.includes(check.path)) return { kind: 'answered', status, body: undefined };
  const parsed = parseNodeStatus(body);
  if (parsed.kind === 'invalid') return failed('malformed', `status ${status}, body ${parsed.why}`);
  return { kind: 'answered', status, body: parsed.status };
}

function failed(cause: FailureCause, detail: string): ProbeOutcome {
  return { kind: 'failed', cause, detail, postgres: 'unknown' };
}
