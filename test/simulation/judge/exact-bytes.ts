// Each side receives an exact prefix of the other side's bytes (G7), and no byte of a client goes to two servers (G8).
// Behind the prefix Pointsman may say why the session ends. Where sessions move it speaks with servers
// itself: then the client's messages are compared, which are unique, and each answer must come from a server.
import { framesOf, type Conversation, type Side } from './conversations.ts';
import { wiresOf } from './conversations.ts';
import type { Frame } from '../postgres/messages.ts';
import type { Law } from './law.ts';

const OWN_STATEMENT = '_pointsman';
/** A statement that waited was cancelled, or its transaction was rolled back for a move. */
const OWN_ERRORS = ['it waited in Pointsman', 'because its server is being changed'];

export const EXACT_BYTES: Law = {
  guarantee: 'G7, G8',
  broken(scene) {
    const mayMove = scene.plan.shape.moves !== 'off';
    return wiresOf(scene).conversations.flatMap((conversation) => {
      const isCut = mayMove || answeredHere(conversation) > 0;
      return isCut
        ? [...requestsInOrder(conversation), ...answersInOrder(conversation)]
        : [...requestsExactly(conversation), ...answersExactly(conversation)];
    });
  },
};

/** Only startup packets may go to several servers, and only until one of them takes the client in. */
function requestsExactly({ session, client, legs }: Conversation): readonly string[] {
  const startup = client.requests.length < 4 ? 0 : client.requests.readInt32BE(0);
  const beyond = legs.filter(({ requests }) => requests.length > startup);
  return [
    ...(beyond.length > 1 ? [`${session}: bytes of its client went to ${beyond.map(hostOf).join(' and ')}`] : []),
    ...legs.flatMap((leg) =>
      isPrefix(leg.requests, client.requests)
        ? []
        : [`${session}: ${hostOf(leg)} was sent other bytes than its client sent, from ${differsAt(leg, client)} on`],
    ),
  ];
}

/** The last server answers; those before it did not take the client in. */
function answersExactly({ session, client, legs }: Conversation): readonly string[] {
  const answers = legs.at(-1)?.answers ?? Buffer.alloc(0);
  const same = commonPrefix(client.answers, answers);
  if (same === client.answers.length || isOwnEnd(client.answers.subarray(messageAt(client.answers, same)))) return [];
  return [`${session}: its client was sent other bytes than its server had sent, from ${same} on`];
}

/** Where the message begins that has the byte at `offset`: an error of ours may begin as one of the server does. */
function messageAt(bytes: Buffer, offset: number): number {
  let at = 0;
  for (const { type, body } of framesOf(bytes, false).frames) {
    const next = at + type.length + 4 + body.length;
    if (next > offset) break;
    at = next;
  }
  return at;
}

/** Messages of Pointsman alone: errors, and the last one may be cut. */
function isOwnEnd(bytes: Buffer): boolean {
  const { frames } = framesOf(bytes, false);
  return frames.every(({ type }) => type === 'E') && (frames.length > 0 || bytes[0] === 0x45);
}

/**
 * Each message with a number of its client's goes to one server once, in its order, and none is left out, but for
 * statements that Pointsman answered itself.
 */
function requestsInOrder(conversation: Conversation): readonly string[] {
  const { session, client, legs } = conversation;
  const asked = framesOf(client.requests, true).frames.filter(isUnique).map(textOf);
  const sent = legs.flatMap(({ requests }) => framesOf(requests, true).frames.filter(isUnique).map(textOf));
  const most = answeredHere(conversation);
  let leftOut = 0;
  for (const [index, text] of sent.entries()) {
    while (leftOut < most && text !== asked[index + leftOut]) leftOut += 1;
    const due = asked[index + leftOut];
    if (text !== due) return [`${session}: message ${index + 1} to its servers is ${text}, and its client sent ${due}`];
  }
  return [];
}

/** How many statements Pointsman answered itself while they waited. */
function answeredHere({ client }: Conversation): number {
  return framesOf(client.answers, false).frames.filter(isOurError).length;
}

/** Each answer is a server's, in its order, but for the error that ends a session. */
function answersInOrder({ session, client, legs }: Conversation): readonly string[] {
  const sent = legs.flatMap(({ answers }) => framesOf(answers, false).frames);
  const got = framesOf(client.answers, false).frames;
  let at = 0;
  for (const [index, frame] of got.entries()) {
    if (isAnswerOfOurs(frame, got[index - 1])) continue;
    const found = sent.findIndex((other, place) => place >= at && isSame(other, frame));
    if (found === -1 && !isOwn(frame, index, got)) {
      return [`${session}: answer ${index + 1} (${frame.type}) to its client is no server's`];
    }
    if (found !== -1) at = found + 1;
  }
  return [];
}

/** The answer to a statement that no server gets: an error, and that Pointsman is ready. */
function isAnswerOfOurs(frame: Frame, before: Frame | undefined): boolean {
  return isOurError(frame) || (frame.type === 'Z' && before !== undefined && isOurError(before));
}

function isOurError({ type, body }: Frame): boolean {
  return type === 'E' && OWN_ERRORS.some((text) => body.includes(text));
}

/** A setting that the next server has otherwise is told at its arrival. */
function isOwn({ type }: Frame, index: number, all: readonly Frame[]): boolean {
  return type === 'S' || (type === 'E' && all.slice(index).every((later) => later.type === 'E'));
}

function isUnique({ type, body }: Frame): boolean {
  const text = body.toString('latin1');
  if (type === 'Q') return /INSERT INTO writes|transfer\(/.test(text);
  // Prepared statements of Pointsman's own have names of its own.
  return type === 'B' && !text.startsWith(OWN_STATEMENT, 1) && /\d/.test(text.slice(text.indexOf('\0', 1)));
}

function textOf({ type, body }: Frame): string {
  return `${type} ${JSON.stringify(body.toString('latin1'))}`;
}

function isSame(one: Frame, other: Frame): boolean {
  return one.type === other.type && one.body.equals(other.body);
}

function isPrefix(part: Buffer, whole: Buffer): boolean {
  return commonPrefix(part, whole) === part.length;
}

function commonPrefix(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length);
  if (one.subarray(0, most).equals(other.subarray(0, most))) return most;
  let at = 0;
  while (one[at] === other[at]) at += 1;
  return at;
}

function differsAt(leg: Side, client: Side): number {
  return commonPrefix(leg.requests, client.requests);
}

function hostOf({ connection }: Side): string {
  return connection.peer.address;
}
