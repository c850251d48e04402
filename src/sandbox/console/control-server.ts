// Accepts verbs from a second terminal: one request for each verb, one verb at a time. A page in a browser can send
// requests to loopback too, with the header Origin. Those get no answer.
import { z } from 'zod';
import { errorCode } from '../../model/errno.ts';
import { takingTurns } from '../../model/taking-turns.ts';
import { json, type ManagerAnswer } from '../api/api-answer.ts';
import { messageOf, parseBody, serveHttp, type LabRequest } from '../http-server.ts';
import { orderSchema, type Endpoints } from './control-protocol.ts';
import type { VerbOutcome } from './verb-list.ts';

export interface ControlTarget {
  readonly endpoints: () => Endpoints;
  readonly perform: (verb: string, target: string | undefined) => Promise<VerbOutcome>;
}

const MAX_BODY_BYTES = 4096;
const STATUS: Readonly<Record<VerbOutcome['kind'], number>> = { done: 200, unknown: 404, refused: 409, failed: 500 };

/** `controlled` returns undefined while the sandbox is not up yet. Rejects with a message for people. */
export async function listenForControl(
  address: string,
  controlled: () => ControlTarget | undefined,
): Promise<{ readonly address: string; readonly close: () => Promise<void> }> {
  const inTurn = takingTurns();
  const { hostname, port } = new URL(`tcp://${address}`);
  const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  const route = (order: LabRequest): Promise<ManagerAnswer> => respond(order, controlled(), inTurn);
  try {
    const server = await serveHttp(route, () => {}, MAX_BODY_BYTES, at);
    return { address: `${hostname}:${server.port}`, close: () => server.close() };
  } catch (cause) {
    const isTaken = errorCode(cause) === 'EADDRINUSE';
    throw new Error(isTaken ? `${address} is in use: is another sandbox running?` : messageOf(cause), { cause });
  }
}

async function respond(
  request: LabRequest,
  controlled: ControlTarget | undefined,
  inTurn: ReturnType<typeof takingTurns>,
): Promise<ManagerAnswer> {
  const { method, headers } = request;
  if (headers.origin !== undefined) return refusal(403, 'requests from a browser are refused');
  if (controlled === undefined) return refusal(503, 'the sandbox is still starting');
  if (method === 'GET') return json(200, controlled.endpoints());
  if (method !== 'POST') return refusal(405, 'GET or POST');
  const order = orderSchema.safeParse(parseBody(request));
  if (!order.success) return refusal(400, z.prettifyError(order.error));
  const { verb, target } = order.data;
  const outcome = await inTurn(() => controlled.perform(verb, target));
  return json(STATUS[outcome.kind], outcome);
}

function refusal(status: number, text: string): ManagerAnswer {
  return json(status, { kind: 'refused', text });
}
