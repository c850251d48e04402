// Makes the answer to a request. It waits while the server is frozen, refuses browsers, calls the dialect's router, and
// turns errors into a status.
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { isSafe, refusal, type ManagerAnswer } from './api-answer.ts';
import type { Gate } from '../gate.ts';
import { routeManager, routePatroni } from './dialect-routes.ts';
import { BodyTooLarge, readBody } from './request-body.ts';
import type { RequestRouting } from './routing.ts';

export interface ServerOptions extends RequestRouting {
  readonly gate: Gate;
  /** Each request takes this much longer. */
  delayMs: number;
  readonly onError: (error: unknown) => void;
}

/** Undefined: the client has disconnected. Never rejects. */
export async function answerTo(request: IncomingMessage, serving: ServerOptions): Promise<ManagerAnswer | undefined> {
  const { gate } = serving;
  await gate.passed();
  if (serving.delayMs > 0) await delay(serving.delayMs);
  const answer = await attempt(request, serving);
  await gate.passed();
  return answer;
}

async function attempt(request: IncomingMessage, serving: ServerOptions): Promise<ManagerAnswer | undefined> {
  const { method = 'GET' } = request;
  const { onError, dialect } = serving;
  try {
    return await route(request, method, serving);
  } catch (error) {
    // The client disconnected before its request was complete.
    if (request.destroyed && !request.complete) return undefined;
    if (error instanceof BodyTooLarge) return refusal(413, method, error.message, dialect.textType);
    onError(error);
    return refusal(500, method, 'the manager failed to answer', dialect.textType);
  }
}

async function route(request: IncomingMessage, method: string, serving: ServerOptions): Promise<ManagerAnswer> {
  const { dialect } = serving;
  // A page in a browser can send requests to loopback, always with the header Origin. No tool sends that header.
  if (!isSafe(method) && request.headers.origin !== undefined) {
    const text = 'a request with an Origin header comes from a browser, and browsers have no business here';
    return refusal(403, method, text, dialect.textType);
  }
  const { url = '/' } = request;
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  const parameters = new URLSearchParams(queryAt === -1 ? '' : url.slice(queryAt));
  const asked = { method, path, parameters, readBody: () => readBody(request) };
  return dialect.name === 'manager' ? routeManager(asked, serving) : routePatroni(asked, serving);
}
