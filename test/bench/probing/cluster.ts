// One setting of the benchmark: members that answer, pools with their checks, and sessions on the members.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import type { Member } from '../../../src/model/member.ts';
import type { RoutingPolicy } from '../../../src/model/policy.ts';
import { SessionRegistry } from '../../../src/proxy/session-registry.ts';
import type { SessionHandle } from '../../../src/proxy/stage.ts';
import { aSessionHandle } from '../../support/values/sessions.ts';
import { aPolicy, aPool, aWritePool } from '../../support/values/builders.ts';

const told = z.array(z.object({ name: z.string(), port: z.number() }));
const HOST = '127.0.0.1';

export async function startMembers(count: number): Promise<AsyncDisposable & { readonly members: readonly Member[] }> {
  const child = fork(new URL('members-main.ts', import.meta.url), [String(count)]);
  const [message] = await once(child, 'message');
  const members = told.parse(message).map(({ name, port }, index): Member => {
    const address = { host: HOST, port };
    return {
      name,
      api: { url: `http://${HOST}:${port}`, address },
      postgres: { host: HOST, port: index + 1 },
      origin: 'configured',
    };
  });
  return {
    members,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

/** The write pool, and read pools with a check of their own each. */
export function poolsOf(count: number): RoutingPolicy {
  const reads = Array.from({ length: count - 1 }, (_, index) =>
    aPool({ name: `read-${index + 1}`, check: `/replica?lag=${16 + index}MB` }),
  );
  return aPolicy({ pools: [aWritePool(), ...reads] });
}

/** Sessions spread over the members of the policy's last pool. */
export function sessionsOn({ pools }: RoutingPolicy, members: readonly Member[], count: number): SessionRegistry {
  const registry = new SessionRegistry();
  registry.learn(pools.map(({ name }) => name));
  const pool = pools.at(-1)?.name ?? 'write';
  for (let index = 0; index < count; index += 1) {
    const { name, postgres } = members[index % members.length] ?? {};
    if (name === undefined || postgres === undefined) continue;
    const place = { member: name, address: postgres, isFallback: false, isLagging: false };
    const session = aSession(pool, place);
    registry.add(session);
    registry.assign(session, place);
  }
  return registry;
}

function aSession(pool: string, place: NonNullable<ReturnType<SessionHandle['assignment']>>): SessionHandle {
  return aSessionHandle({ pool, assignment: () => place });
}
