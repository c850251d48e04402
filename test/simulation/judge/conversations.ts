// The sessions as the wires of Pointsman's hosts show them: each client's bytes, and the connections to members where
// its session went on. Each client names its session in its startup packet, which goes on unchanged.
import { Fields, Frames, type Frame } from '../postgres/messages.ts';
import type { Scene } from '../scene/scene.ts';
import { READ_PORT, WRITE_PORT } from '../scene/site.ts';
import type { TappedConnection } from '../world/wiretap.ts';

export interface Side {
  readonly connection: TappedConnection;
  /** From the client to the server. */
  readonly requests: Buffer;
  /** From the server to the client. */
  readonly answers: Buffer;
}

/** `process` and `secret`, of the message BackendKeyData. */
export interface Key {
  readonly process: number;
  readonly secret: number;
}

export interface Conversation {
  /** `w1-3` */
  readonly session: string;
  readonly pool: 'write' | 'read';
  readonly client: Side;
  /** Its connections to members, in their order. */
  readonly legs: readonly Side[];
}

export interface CancelRequest extends Key {
  readonly connection: TappedConnection;
}

export interface Wires {
  readonly conversations: readonly Conversation[];
  /** Connections of clients that ended before a whole startup packet, and those that only cancel. */
  readonly others: readonly Side[];
  readonly cancels: readonly CancelRequest[];
}

const POSTGRES_PORT = 5432;
const CANCEL_REQUEST = 80_877_102;
const known = new WeakMap<Scene, Wires>();

export function wiresOf(scene: Scene): Wires {
  const wires = known.get(scene) ?? readWires(scene);
  known.set(scene, wires);
  return wires;
}

function readWires({ sites }: Scene): Wires {
  const sides = sites
    .flatMap(({ wiretap }) => wiretap.connections)
    .map(sideOf)
    .filter((side) => side !== undefined);
  const named = Map.groupBy(sides, ({ requests }) => sessionIn(requests));
  const conversations: Conversation[] = [];
  for (const [session, own] of named) {
    const client = own.find(({ connection }) => connection.isAccepted);
    if (session === undefined || client === undefined) continue;
    const legs = own.filter(({ connection }) => !connection.isAccepted);
    const pool = client.connection.port === WRITE_PORT ? 'write' : 'read';
    conversations.push({ session, pool, client, legs });
  }
  const others = named.get(undefined) ?? [];
  return { conversations, others, cancels: others.flatMap(cancelOf) };
}

function sideOf(connection: TappedConnection): Side | undefined {
  const { isAccepted, port, peer } = connection;
  if (isAccepted) {
    if (port !== WRITE_PORT && port !== READ_PORT) return undefined;
    return { connection, requests: connection.readBytes(), answers: connection.sentBytes() };
  }
  if (peer.port !== POSTGRES_PORT) return undefined;
  return { connection, requests: connection.sentBytes(), answers: connection.readBytes() };
}

function sessionIn(requests: Buffer): string | undefined {
  if (requests.length < 8 || requests.length < requests.readInt32BE(0)) return undefined;
  return /app\.session=([\w-]+)/.exec(requests.toString('latin1', 0, requests.readInt32BE(0)))?.[1];
}

function cancelOf({ connection, requests }: Side): readonly CancelRequest[] {
  if (requests.length !== 16 || requests.readInt32BE(4) !== CANCEL_REQUEST) return [];
  return [{ connection, process: requests.readInt32BE(8), secret: requests.readInt32BE(12) }];
}

/** The messages of one direction, and the bytes of one that is cut. */
export function framesOf(
  bytes: Buffer,
  isFromClient: boolean,
): { readonly frames: readonly Frame[]; readonly rest: number } {
  const reader = new Frames(isFromClient);
  reader.add(bytes);
  const frames: Frame[] = [];
  let rest = bytes.length;
  for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
    frames.push(frame);
    rest -= frame.body.length + 4 + frame.type.length;
  }
  return { frames, rest };
}

/** A server tells it in its first answers. */
export function keyIn(answers: Buffer): Key | undefined {
  const { frames } = framesOf(answers, false);
  const frame = frames.find(({ type }) => type === 'K');
  if (frame === undefined) return undefined;
  const fields = new Fields(frame.body);
  return { process: fields.int32(), secret: fields.int32() };
}
