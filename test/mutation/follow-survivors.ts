// Mutants of the followers of a session that survive for a reason.
import { survivorsOf, type Survivor } from './survivors.ts';

export const FOLLOW_SURVIVORS: readonly Survivor[] = [
  survivorsOf(
    'wire/follow/statement-watch',
    'it saves time alone: a text that is taken apart has the same effect',
    ['plainEnd !== -1 && plainEnd - at <= LONGEST_TEXT && !mayBeClean(bytes, at)', 'false'],
    ['plainEnd - at <= LONGEST_TEXT', 'plainEnd - at < LONGEST_TEXT'],
    ['plainEnd - at', 'plainEnd + at'],
    ["{ this.transaction.readsHarmless(isUnnamed); return 'unsure'; }", '{}'],
  ),
  survivorsOf('wire/follow/word-finder', 'the row of the next state is written later', [
    'byte < BYTES',
    'byte <= BYTES',
  ]),
  survivorsOf('wire/follow/word-finder', 'the empty beginning is the state of the root', [
    'from < text.length',
    'from <= text.length',
  ]),
  survivorsOf('wire/follow/backend-follower', 'without a return it is undefined, too', [
    'default: return undefined;',
    'default:',
  ]),
  survivorsOf('wire/follow/backend-follower', 'it saves the copies of parameters and tags that nobody reads', [
    'memory === undefined',
    'false',
  ]),
  survivorsOf('wire/follow/client-follower', 'it saves the copies of texts that nobody reads', [
    'memory === undefined',
    'false',
  ]),
  survivorsOf(
    'wire/follow/client-follower',
    'behind a Close of one byte is the type of the next message, and none is NUL',
    ['size > 1', 'true'],
    ['size > 1', 'size >= 1'],
  ),
  survivorsOf(
    'wire/follow/frames',
    'of no bytes nothing is read, and a message that ends with its chunk may be read as one that goes on',
    ['at >= end', 'at > end'],
    ['at + HEADER + size > end', 'at + HEADER + size >= end'],
  ),
  survivorsOf('wire/follow/frames', 'each of the 256 types has a number', ['-1', '+1']),
  survivorsOf('wire/follow/first-request', 'a text that begins otherwise ends no transaction either', [
    "''",
    '"Stryker was here!"',
  ]),
  survivorsOf('wire/follow/unanswered', 'the first ReadyForQuery sets it', ['false', 'true']),
  survivorsOf('wire/follow/unanswered', 'only a goodbye has none, and nothing comes behind it', [
    'kind === NONE',
    'false',
  ]),
  survivorsOf('wire/follow/unanswered', 'a server ends a session that sends anything else amid a COPY', [
    'kind === SYNC || kind === COPY_END',
    'true',
  ]),
  survivorsOf('wire/follow/unanswered', 'it saves memory alone', ['this.#kinds.length > MOST / 256', 'false']),
  survivorsOf('wire/follow/first-request', 'each of these messages has a body', ['size < 0', 'size <= 0']),
  survivorsOf('wire/follow/session-memory', 'the end of the login sets it before there is a statement', [
    'false',
    'true',
  ]),
  survivorsOf(
    'wire/follow/session-memory',
    'a text without a NUL has no parameter, and nothing is unsure of a statement that there is not',
    ["''", '"Stryker was here!"'],
    ['[]', '["Stryker was here"]'],
  ),
  survivorsOf(
    'wire/follow/session-memory',
    'no message begins with a NUL',
    ['size > 0', 'size >= 0'],
    ['size > 0', 'true'],
  ),
  survivorsOf('wire/follow/session-memory', 'no function has an unknown number', ['oid !== undefined', 'true']),
  survivorsOf('wire/follow/statement-texts', 'each text begins with a read, which sets it', ['false', 'true']),
  survivorsOf(
    'wire/follow/statement-texts',
    'it saves a search that finds nothing, or nothing else',
    ['!this.#hasDo && !SUSPICIOUS.test(text)', 'false'],
    ['plain === text', 'false'],
    ["'/*'", '""'],
  ),
  survivorsOf('wire/follow/statement-texts', 'a name is quoted or not', ["''", '"Stryker was here!"']),
  survivorsOf('wire/follow/statement-texts', 'nothing is at both places', ['close < open', 'close <= open']),
  survivorsOf('wire/follow/statement-texts', 'one comment more, so deep in others, is none too many', [
    'depth < MOST_DEEP',
    'depth <= MOST_DEEP',
  ]),
  survivorsOf('wire/follow/statement-texts', 'a NUL right behind a part ends its text as well', [
    'nul < end',
    'nul <= end',
  ]),
  survivorsOf('wire/follow/statement-texts', 'at the very limit it is whole in this part and in the next one', [
    'found.index + OVERLAP > text.length',
    'found.index + OVERLAP >= text.length',
  ]),
  survivorsOf('wire/follow/statement-texts', 'behind a line comment is the end of its line', ["' '", '""']),
  survivorsOf('wire/follow/login-transcript', 'its message sets it before anybody reads it', [
    "''",
    '"Stryker was here!"',
  ]),
  survivorsOf(
    'wire/follow/login-transcript',
    'only a look into the memory shows that it was overwritten',
    ['proof.fill(0);', ';'],
    ['this.#client.clear();', ';'],
  ),
  survivorsOf(
    'wire/follow/statement-watch',
    'neither a type of a message nor the first byte of a name without an end is NUL',
    ['statement > at', 'statement >= at'],
    ['end >= limit', 'end > limit'],
  ),
  survivorsOf('wire/follow/statement-watch', 'a tag is one text at least', ["''", '"Stryker was here!"']),
  survivorsOf('wire/follow/statement-effect', 'each effect has its place', ["'dirty'", '""']),
  survivorsOf('wire/follow/unnamed-statement', 'each Parse and Close of it sets it', ['false', 'true']),
  survivorsOf(
    'wire/follow/unnamed-statement',
    'it saves memory alone',
    ['this.#message.length >= whole', 'false'],
    ['this.#message.length >= whole', 'this.#message.length > whole'],
  ),
  survivorsOf('wire/follow/login-transcript', 'it saves the memory of the messages around it', [
    'body.slice()',
    'body',
  ]),
  survivorsOf('wire/follow/login-transcript', 'behind a size that is missing is nothing', ['-1', '+1']),
  survivorsOf('wire/follow/login-transcript', 'its request has a salt', ['this.#salt === undefined', 'false']),
  survivorsOf(
    'wire/follow/transaction-watch',
    'they are judged sooner, or later: only memory differs',
    ['this.#texts.length === MOST_TEXTS', 'true'],
    ['this.#texts.length === MOST_TEXTS', 'false'],
    ['this.#texts.length === MOST_TEXTS', 'this.#texts.length !== MOST_TEXTS'],
    ['this.#judge();', ';'],
  ),
  survivorsOf('wire/follow/transaction-watch', 'a text that ends nothing', ['[]', '["Stryker was here"]']),
  survivorsOf('wire/follow/transaction-watch', 'no statement has that name', ["''", '"Stryker was here!"']),
].flat();
