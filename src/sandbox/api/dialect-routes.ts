// The answer to each request in both dialects. The manager dialect has exact paths, and the methods of each path. Where
// the management API is silent, an unknown path is 404, an unknown method 405, and HEAD works wherever GET does (RFC
// 9110, 9.3.2).
import { json, refusal, type ManagerAnswer } from './api-answer.ts';
import { isHealthPath, judgeHealth, LIVENESS } from './manager-health.ts';
import { nodeDocument } from './node-document.ts';
import { isRead, read } from './read-documents.ts';
import type { ManagerRequest, RequestRouting } from './routing.ts';
import { isWrite, write, writeMethods } from './write-operations.ts';
import { judgePatroniHealth, judgePatroniLiveness, judgePatroniReadiness } from './patroni-health.ts';
import { pythonError } from './python-error.ts';

export async function routeManager(request: ManagerRequest, routing: RequestRouting): Promise<ManagerAnswer> {
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
async function checkHealth(request: ManagerRequest, routing: RequestRouting): Promise<ManagerAnswer> {
  const { path, parameters } = request;
  const { operations, about, dialect } = routing;
  const member = path === LIVENESS ? operations.pulse() : await operations.look();
  const verdict = judgeHealth(path, parameters, member);
  if (verdict.kind === 'invalid') return refused(request, routing, 400, verdict.text);
  return json(verdict.kind === 'yes' ? 200 : 503, nodeDocument(member, about, dialect));
}

function methodsOf(path: string, { dialect }: RequestRouting): readonly string[] {
  if (isHealthPath(path)) return ['GET', 'HEAD', 'OPTIONS'];
  return [...(isRead(path, dialect) ? ['GET', 'HEAD'] : []), ...writeMethods(path)];
}

function refused({ method }: ManagerRequest, { dialect }: RequestRouting, status: number, text: string): ManagerAnswer {
  return refusal(status, method, text, dialect.textType);
}

/**
 * As Patroni 4.1 does it. The first segment of the path names a handler. Any other GET, HEAD or OPTIONS is a health
 * check by substrings, and any other method without a handler is 501.
 */
export async function routePatroni(request: ManagerRequest, routing: RequestRouting): Promise<ManagerAnswer> {
  const { method, path, parameters } = request;
  const { operations, about, dialect } = routing;
  const handler = `/${path.replace(/^\/+/, '').split('/')[0] ?? ''}`;
  if (isWrite(method, handler)) return write(method, handler, await request.readBody(), routing);
  if (method === 'GET') {
    if (isRead(handler, dialect)) return read(handler, routing);
    if (handler === '/liveness') return statusOnly(judgePatroniLiveness(operations.pulse()));
    const member = await operations.look();
    if (handler === '/readiness') return statusOnly(judgePatroniReadiness(parameters, member));
    const status = judgePatroniHealth(path, parameters, member) ? 200 : 503;
    return json(status, nodeDocument(member, about, dialect));
  }
  if (method === 'HEAD' || method === 'OPTIONS') {
    return statusOnly(judgePatroniHealth(path, parameters, await operations.look()));
  }
  return pythonError(501, `Unsupported method ('${method}')`);
}

function statusOnly(isYes: boolean): ManagerAnswer {
  return { status: isYes ? 200 : 503 };
}
