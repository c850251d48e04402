// A simple parser of the protocol: a whole stream at once, message by message, with slices and objects for each. The
// followers of src/wire must report the same for every prefix, in whatever pieces the bytes came.

export interface Message {
  readonly type: string;
  /** The present part of the payload, and its full length. */
  readonly body: Buffer;
  readonly size: number;
}

export interface Parsed {
  readonly messages: readonly Message[];
  readonly isFollowing: boolean;
  readonly isAtBoundary: boolean;
}

/** Allowed payload lengths, by type. */
export type Sizes = Readonly<Record<string, readonly [least: number, most: number]>>;

export const BACKEND_SIZES: Sizes = {
  ...Object.fromEntries('DdTVNAt'.split('').map((type) => [type, [0, 0x3fff_fffe] as const])),
  ...Object.fromEntries('123Insc'.split('').map((type) => [type, [0, 0] as const])),
  ...Object.fromEntries('GHW'.split('').map((type) => [type, [3, 29_996] as const])),
  ...Object.fromEntries('Cv'.split('').map((type) => [type, [1, 29_996] as const])),
  R: [4, 65_531],
  K: [8, 260],
  S: [2, 0x3fff_fffe],
  Z: [1, 1],
  E: [1, 0x3fff_fffe],
};

export const CLIENT_SIZES: Sizes = {
  ...Object.fromEntries('QFPBd'.split('').map((type) => [type, [0, 0x3fff_fffa] as const])),
  ...Object.fromEntries('DECf'.split('').map((type) => [type, [0, 9996] as const])),
  ...Object.fromEntries('SXHc'.split('').map((type) => [type, [0, 0] as const])),
  p: [0, 65_531],
};

export function parse(stream: Buffer, sizes: Sizes): Parsed {
  const messages: Message[] = [];
  let rest = stream;
  while (rest.length >= 5) {
    const type = rest.toString('latin1', 0, 1);
    const size = rest.readInt32BE(1) - 4;
    const [least, most] = sizes[type] ?? [0, -1];
    if (size < least || size > most) return { messages, isFollowing: false, isAtBoundary: false };
    messages.push({ type, body: rest.subarray(5, 5 + size), size });
    if (rest.length < 5 + size) return { messages, isFollowing: true, isAtBoundary: false };
    rest = rest.subarray(5 + size);
  }
  return { messages, isFollowing: true, isAtBoundary: rest.length === 0 };
}

export interface BackendView {
  readonly isFollowing: boolean;
  readonly isAtBoundary: boolean;
  readonly isAuthenticated: boolean;
  readonly transaction: string | undefined;
  readonly cancelKey: string | undefined;
  readonly isInHotStandby: boolean | undefined;
  readonly fatal: string | undefined;
}

const STATUSES: Readonly<Record<string, string>> = { I: 'idle', T: 'open', E: 'failed' };

export function backendView(stream: Buffer): BackendView {
  const parsed = parse(stream, BACKEND_SIZES);
  const nonsense = parsed.messages.findIndex(
    ({ type, body }) => type === 'Z' && !/^[ITE]?$/.test(body.toString('latin1')),
  );
  const messages = nonsense === -1 ? parsed.messages : parsed.messages.slice(0, nonsense);
  const whole = messages.filter(({ body, size }) => body.length === size);
  const statuses = whole.filter(({ type }) => type === 'Z').map(({ body }) => STATUSES[body.toString()]);
  const key = whole.findLast(({ type }) => type === 'K')?.body;
  const standby = messages
    .filter(({ type, body, size }) => type === 'S' && body.length >= Math.min(size, 18))
    .map(({ body }) => /^in_hot_standby\0(on\0)?/.exec(body.toString('latin1')))
    .findLast((match) => match !== null);
  const isFollowing = parsed.isFollowing && nonsense === -1;
  const isAtBoundary = parsed.isAtBoundary && nonsense === -1;
  const last = messages.at(-1);
  return {
    isFollowing,
    isAtBoundary,
    isAuthenticated: messages.some(({ type, body }) => type === 'R' && body.length >= 4 && body.readInt32BE(0) === 0),
    transaction: statuses.at(-1),
    cancelKey: key && `${key.readInt32BE(0)} ${key.subarray(4).toString('hex')}`,
    isInHotStandby: standby && standby[1] !== undefined,
    fatal: isAtBoundary && last?.type === 'E' ? fatalOf(last.body) : undefined,
  };
}

function fatalOf(body: Buffer): string | undefined {
  // Bytes cut off after 128 bytes, or after the end of the list, are absent.
  const opening = body.subarray(0, 128).toString();
  const texts = opening.split('\0').slice(0, -1);
  const end = texts.indexOf('');
  const fields = end === -1 ? texts : texts.slice(0, end);
  const field = (letter: string): string | undefined => fields.find((text) => text.startsWith(letter))?.slice(1);
  const isFatal = /^(?:FATAL|PANIC)$/.test(field('V') ?? field('S') ?? '');
  return isFatal ? (/^[0-9A-Z]{5}$/.exec(field('C') ?? '')?.[0] ?? 'XX000') : undefined;
}
