// Each client knows the state of its transaction (G24), however its session moved: a COMMIT is answered ROLLBACK only
// to a client that has read an error before, a transaction that has failed runs nothing more, and none ends or begins
// without a word. Read from the wire: each request, and its answer up to ReadyForQuery.
import { Fields } from '../postgres/messages.ts';
import { framesOf, wiresOf, type Conversation } from './conversations.ts';
import type { Law } from './law.ts';

export const TRANSACTIONS: Law = {
  guarantee: 'G24',
  broken: (scene) => wiresOf(scene).conversations.flatMap(untrue),
};

interface Answer {
  readonly tag: string | undefined;
  readonly isError: boolean;
  /** As in ReadyForQuery. */
  readonly status: string;
}

function untrue({ session, client }: Conversation): readonly string[] {
  const requests = requestsIn(client.requests);
  const [login, ...answers] = answersIn(client.answers);
  let before = login?.status ?? 'I';
  for (const [index, answer] of answers.entries()) {
    const text = requests[index] ?? '';
    if (!isTrue(text, before, answer)) {
      const { tag = 'nothing', isError, status } = answer;
      return [`${session}: "${text}" in state ${before} is answered ${isError ? 'an error' : tag} and state ${status}`];
    }
    before = answer.status;
  }
  return [];
}

function isTrue(text: string, before: string, { tag, isError, status }: Answer): boolean {
  const ends = text === 'COMMIT' || text === 'ROLLBACK';
  switch (before) {
    case 'T':
      if (isError) return status === (text === 'COMMIT' ? 'I' : 'E');
      return ends ? status === 'I' && tag === text : status === 'T';
    case 'E':
      return status === 'I' ? ends && !isError && tag === 'ROLLBACK' : status === 'E' && (isError || tag === undefined);
    default:
      return status === (text === 'BEGIN' && !isError ? 'T' : 'I');
  }
}

/** The statements that the client runs, each with an answer of its own. */
function requestsIn(bytes: Buffer): readonly string[] {
  const requests: string[] = [];
  const statements = new Map<string, string>();
  let text = '';
  for (const { type, body } of framesOf(bytes, true).frames) {
    const fields = new Fields(body);
    if (type === 'Q') requests.push(fields.text().toUpperCase());
    if (type === 'P') statements.set(fields.text(), fields.text());
    if (type === 'B') {
      fields.text();
      text = statements.get(fields.text()) ?? '';
    }
    if (type !== 'S') continue;
    requests.push(text.toUpperCase());
    text = '';
  }
  return requests;
}

/** The login's is the first one. */
function answersIn(bytes: Buffer): readonly Answer[] {
  const answers: Answer[] = [];
  let tag: string | undefined;
  let isError = false;
  for (const { type, body } of framesOf(bytes, false).frames) {
    if (type === 'C') tag = new Fields(body).text();
    if (type === 'E') isError = true;
    if (type !== 'Z') continue;
    answers.push({ tag, isError, status: body.toString('latin1') });
    tag = undefined;
    isError = false;
  }
  return answers;
}
