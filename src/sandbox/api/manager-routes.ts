// The answer to each request in the manager dialect: exact paths, and the methods of each path. Where the management
// API is silent, an unknown path is 404, an unknown method 405, and HEAD works wherever GET does (RFC 9110, 9.3.2).
import type { ManagerAnswer } from './api-answer.ts';
import { json, refusal } from './api-answer.ts';
import { isHealthPath, judgeHealth, judgeLiveness, LIVENESS } from './manager-health.ts';
import { nodeDocument } from './node-document.ts';
import { isRead, read } from './read-documents.ts';
import type { ManagerRequest, Routing } from './routing.ts';
import { isWrite, write, writeMethods } from './write-operations.ts';

export async function routeManager(request: ManagerRequest, routing: Routing): Promise<ManagerAnswer> {
  const { method, path } = request;
  const methods = methodsOf(path, routing);
  if (methods.length === 0) return refused(request, routing, 404, `there is no ${path} here`);
  if (!methods.includes(method)) {
    const allow = methods.join(', ');
    return { ...refused(request, routing, 405, `${path} takes ${allow}`), allow };
  }
  if (isWrite(method, path)) return write(method, path, await request.readBody(), routing);
  if (!isHealthPath(path)) return read(path, routing);
  const answer = await checkHealth(request, routing);
  // HEAD has the headers of GET, and the server leaves out the body.
  return method === 'OPTIONS' ? { status: answer.status } : answer;
}

/** Every answer carries the node's state. /liveness has the state of the last heartbeat, because it executes no SQL. */
async function checkHealth(request: ManagerRequest, routing: Routing): Promise<ManagerAnswer> {
  const { path, parameters } = request;
  const { operations, about, dialect } = routing;
  const pulse = path === LIVENESS ? await operations.pulse() : undefined;
  const member = pulse?.member ?? (await operations.look());
  const verdict = pulse ? judgeLiveness(pulse, parameters) : judgeHealth(path, parameters, member);
  if (verdict.kind === 'invalid') return refused(request, routing, 400, verdict.text);
  return json(verdict.kind === 'yes' ? 200 : 503, nodeDocument(member, about, dialect));
}

function methodsOf(path: string, { dialect }: Routing): readonly string[] {
  if (isHealthPath(path)) return ['GET', 'HEAD', 'OPTIONS'];
  return [...(isRead(path, dialect) ? ['GET', 'HEAD'] : []), ...writeMethods(path)];
}

function refused({ method }: ManagerRequest, { dialect }: Routing, status: number, text: string): ManagerAnswer {
  return refusal(status, method, text, dialect.textType);
}
