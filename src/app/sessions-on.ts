// The sessions of one member, in all pools and all processes.
import type { MemberName } from '../model/member.ts';
import type { Proxy } from '../proxy/proxy-interface.ts';

export interface SessionsOn {
  readonly onMember: number;
  /** Clients that connect to a server now, to any member. */
  readonly connecting: number;
}

export async function sessionsOn(proxy: Pick<Proxy, 'gather' | 'counts'>, member: MemberName): Promise<SessionsOn> {
  await proxy.gather();
  const pools = [...proxy.counts().values()];
  return {
    onMember: pools.reduce((sum, { members }) => sum + (members.get(member) ?? 0), 0),
    connecting: pools.reduce((sum, { states }) => sum + states.dialing, 0),
  };
}
