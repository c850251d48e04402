// Accepts verbs from a second terminal: one request for each verb, one verb at a time. A page in a browser can send
// requests to loopback too, with the header Origin. Those get no answer.
import { createServer, type IncomingMessage } from 'node:http';
import { z } from 'zod';
import { errorCode } from '../../model/errno.ts';
import { takingTurns } from '../../model/taking-turns.ts';
import { bind, closeNow, messageOf } from '../http-server.ts';
import { orderSchema, type Endpoints } from './control-protocol.ts';
import type { VerbOutcome } from './verb-list.ts';

export interface ControlTarget {
  readonly endpoints: () => Endpoints;
  readonly perform: (verb: string, target: string | undefined) => Promise<VerbOutcome>;
}

export type ControlStart =
  /** `address`: host:port. */
  | { readonly kind: 'listening'; readonly address: string; readonly close: () => Promise<void> }
  | { readonly kind: 'failed'; readonly why: string };

interface ControlAnswer {
  readonly status: number;
  readonly body: VerbOutcome | Endpoints;
}

const MAX_BODY_BYTES = 4096;
const STATUS: Readonly<Record<VerbOutcome['kind'], number>> = { done: 200, unknown: 404, refused: 409, failed: 500 };

/** `controlled` returns undefined while the sandbox is not up yet. */
export async function listenForControl(
  address: string,
  controlled: () => ControlTarget | undefined,
): Promise<ControlStart> {
  const inTurn = takingTurns();
  const server = createServer((request, response) => {
    void respond(request, controlled(), inTurn).then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });
  const { hostname, port } = new URL(`tcp://${address}`);
  try {
    const bound = await bind(server, hostname.replace(/^\[|\]$/g, ''), Number(port));
    return { kind: 'listening', address: `${hostname}:${bound}`, close: () => closeNow(server) };
  } catch (error) {
    const isTaken = errorCode(error) === 'EADDRINUSE';
    return { kind: 'failed', why: isTaken ? `${address} is in use: is another sandbox running?` : messageOf(error) };
  }
}

async function respond(
  request: IncomingMessage,
  controlled: ControlTarget | undefined,
  inTurn: ReturnType<typeof takingTurns>,
): Promise<ControlAnswer> {
  const { method, headers } = request;
  if (headers.origin !== undefined) return refusal(403, 'requests from a browser are refused');
  if (controlled === undefined) return refusal(503, 'the sandbox is still starting');
  if (method === 'GET') return { status: 200, body: controlled.endpoints() };
  if (method !== 'POST') return refusal(405, 'GET or POST');
  const order = orderSchema.safeParse(await readJson(request));
  if (!order.success) return refusal(400, z.prettifyError(order.error));
  const { verb, target } = order.data;
  const outcome = await inTurn(() => controlled.perform(verb, target));
  return { status: STATUS[outcome.kind], body: outcome };
}

function refusal(status: number, text: string): ControlAnswer {
  return { status, body: { kind: 'refused', text } };
}

/** Undefined for input that is not JSON or too long. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  try {
    for await (const chunk of request.setEncoding('utf8')) {
      text += String(chunk);
      if (text.length > MAX_BODY_BYTES) return undefined;
    }
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
