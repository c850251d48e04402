// The platform's API: skills, files and agents. Source: the model platform's API. It is strict where that document
// speaks, and answers as such servers usually do where it shows no status or body.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { json, type ManagerAnswer } from '../api/api-answer.ts';
import { isJson, parseBody, type LabRequest, type HttpRoute } from '../http-server.ts';
import { BETA, betasOf, requireBeta } from './betas.ts';
import { FILE_FIELD, fileRecord } from './file-store.ts';
import { readFiles } from './form.ts';
import { checkMessage, type Stores } from './message-check.ts';
import { PlatformRefusal } from './refused.ts';
import { dialectOf, skillWays, type PlatformPaths } from './skills-api.ts';

export const AUTH_HEADER = 'x-api-key';
/** The sandbox's own: the document does not show the path of message creation, and there is no model here. */
export const MESSAGE_CHECK = '/message-check';

export function platformApi(stores: Stores, apiKey: string): HttpRoute {
  return async (asked) => {
    try {
      if (!isKey(asked, apiKey))
        throw new PlatformRefusal(401, `the key in the header ${AUTH_HEADER} is missing or wrong`);
      const ways = waysOf(asked, betasOf(asked), stores);
      if (ways === undefined) throw new PlatformRefusal(404, 'there is no such path');
      const answer = ways[asked.method];
      if (answer !== undefined) return await answer();
      const allow = Object.keys(ways).join(', ');
      return { ...refused(405, `use ${allow}`), allow };
    } catch (error) {
      if (error instanceof PlatformRefusal) return refused(error.status, error.message);
      throw error;
    }
  };
}

function waysOf(asked: LabRequest, betas: ReadonlySet<string>, stores: Stores): PlatformPaths | undefined {
  const { path } = asked;
  if (path === MESSAGE_CHECK) return { POST: () => json(200, checkMessage(jsonOf(asked), betas, stores)) };
  if (path === '/v1/agents') return { POST: () => storeAgent(asked, betas) };
  if (path === '/v1/files') {
    return {
      POST: async () => {
        requireBeta(betas, BETA.files, 'an upload');
        return json(200, fileRecord(await stores.files.store(await readFiles(asked, FILE_FIELD))));
      },
    };
  }
  if (path !== '/v1/skills' && !path.startsWith('/v1/skills/')) return undefined;
  const parts = path.split('/').slice(3).map(decoded);
  return skillWays(parts, asked, dialectOf(betas), stores.skills);
}

/** The document shows nothing of an agent but the path and the beta value: nothing is kept. */
function storeAgent(asked: LabRequest, betas: ReadonlySet<string>): ManagerAnswer {
  requireBeta(betas, BETA.agents, 'an agent');
  const agent = z.record(z.string(), z.unknown()).safeParse(jsonOf(asked));
  if (!agent.success) throw new PlatformRefusal(400, 'an agent is a JSON object');
  return json(200, { ...agent.data, id: `agent_${randomBytes(12).toString('hex')}` });
}

function jsonOf(asked: LabRequest): unknown {
  if (!isJson(asked)) throw new PlatformRefusal(415, 'Content-Type must be application/json');
  const body = parseBody(asked);
  if (body === undefined) throw new PlatformRefusal(400, 'the body is no JSON');
  return body;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new PlatformRefusal(400, 'the path is not encoded as a URL');
  }
}

function isKey({ headers }: LabRequest, apiKey: string): boolean {
  const given = Buffer.from(String(headers[AUTH_HEADER] ?? ''));
  const wanted = Buffer.from(apiKey);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function refused(status: number, message: string): ManagerAnswer {
  return json(status, { error: { message } });
}
