// The words for the client of a causal read that is late, and of one that runs although it is.
import { durationText } from '../../core/describe.ts';
import type { ReadScope } from '../../model/causal-reads.ts';
import { sizeText } from '../../model/check.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { encodeErrorResponse, encodeNotice } from '../../wire/messages/error-response.ts';
import type { ShownReadWait } from '../../reports/session-list.ts';
import type { ReadWait } from './read-train.ts';

export interface LateRead {
  readonly scope: ReadScope;
  readonly since: Instant;
  readonly waitMs: number;
  readonly member: MemberName;
  readonly wait: ReadWait;
}

/** PostgreSQL 19 has the same for a WAIT FOR LSN that takes too long. */
const QUERY_CANCELED = '57014';
const WARNING = '01000';
const MISSES = 'does not show every acknowledged write';
const NOTHING_MORE = 'No server has seen the statement.';

/** `whyHere`: the sentence that says why the session is not at a server that shows them. */
export function lateError(late: LateRead, whyHere: string | undefined): Uint8Array {
  const { waitMs, member } = late;
  const sentences = [whyLate(late), whyHere, NOTHING_MORE].filter((sentence) => sentence !== undefined);
  return encodeErrorResponse({
    severity: 'ERROR',
    sqlState: QUERY_CANCELED,
    message: `pointsman: the read waited ${durationText(waitMs)}, and ${member} ${MISSES} (read_late)`,
    detail: sentences.join(' '),
    hint: 'Try again, or read on the write port.',
  });
}

export function staleNotice(late: LateRead): Uint8Array {
  return encodeNotice(`pointsman: this read may miss acknowledged writes: ${whyLate(late)}`, WARNING);
}

/** For an operator. */
export function shownWait(read: LateRead, isLate: boolean): ShownReadWait {
  const { since, scope, member, wait } = read;
  const { why: reason, primary, word, behindBytes } = wait;
  const mustShow = word && { position: word.written, timeline: word.timeline };
  return { since, scope, member, reason, primary, mustShow, behindBytes, isLate, why: whyLate(read) };
}

/** A sentence. */
export function whyLate({ member, wait: { why, primary, behindBytes, unanswered } }: LateRead): string {
  switch (why) {
    case 'primary_unproven':
      return 'No primary is proven.';
    case 'timeline_unknown':
      return `${member} has not reported the timeline of ${primary}.`;
    case 'unasked':
      return unansweredText(primary, unanswered) ?? unansweredText(member, unanswered) ?? 'A question is under way.';
    case 'behind': {
      const how = behindBytes === undefined ? 'behind' : `${sizeText(behindBytes)} behind`;
      const known = `${member} is ${how} ${primary}. It may replay slowly, or a query on it blocks replay.`;
      return unansweredText(member, unanswered) ?? known;
    }
  }
}

function unansweredText(
  member: MemberName | undefined,
  unanswered: ReadonlyMap<MemberName, string>,
): string | undefined {
  const why = member === undefined ? undefined : unanswered.get(member);
  return why === undefined ? undefined : `${member} does not answer questions: ${why}.`;
}
