// The answer to each request as Patroni 4.1 gives it. The first segment of the path names a handler. Any other GET,
// HEAD or OPTIONS is a health check by substrings, and any other method without a handler is 501.
import type { ManagerAnswer } from './api-answer.ts';
import { json } from './api-answer.ts';
import { nodeDocument } from './node-document.ts';
import { judgePatroniHealth, judgePatroniLiveness, judgePatroniReadiness } from './patroni-health.ts';
import { pythonError } from './python-error.ts';
import { isRead, read } from './read-documents.ts';
import type { ManagerRequest, Routing } from './routing.ts';
import { isWrite, write } from './write-operations.ts';

export async function routePatroni(request: ManagerRequest, routing: Routing): Promise<ManagerAnswer> {
  const { method, path, parameters } = request;
  const { operations, about, dialect } = routing;
  const handler = `/${path.replace(/^\/+/, '').split('/')[0] ?? ''}`;
  if (isWrite(method, handler)) return write(method, handler, await request.readBody(), routing);
  if (method === 'GET') {
    if (isRead(handler, dialect)) return read(handler, routing);
    if (handler === '/liveness') return statusOnly(judgePatroniLiveness(await operations.pulse()));
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
