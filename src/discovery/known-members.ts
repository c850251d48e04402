// The members that discovery remembers: configured ones always, discovered ones until no document has named them for
// the grace time. A document adds and confirms members. Only time removes them.
import type { Instant } from '../model/instant.ts';
import type { Address, Member, MemberName, MemberRefusal, Objection } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import { isSameApi, type ContactPoints } from './contact-points.ts';
import type { CheckedMember } from './check-addresses.ts';

/** Limit on members: a document may be hostile. */
export const MAX_MEMBERS = 100;

interface MemberEntry {
  readonly member: Member;
  /** Start of the newest read whose document named it. */
  readonly seenAt: Instant;
}

export class KnownMembers {
  readonly #graceMs: number;
  readonly #discovered = new Map<MemberName, MemberEntry>();
  /** PostgreSQL addresses of configured members that come from documents. */
  readonly #learned = new Map<MemberName, Address>();

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** Configured members first, then the discovered ones. */
  members(points: ContactPoints): readonly Member[] {
    const configured = points.members.map((member) => ({
      ...member,
      postgres: member.postgres ?? this.#learned.get(member.name),
    }));
    const discovered = [...this.#discovered.values()].map((entry) => entry.member);
    return [...configured, ...discovered];
  }

  /** Adds one document's checked members. `at`: the start of its read. Returns the refused members with the reason. */
  apply(
    checked: readonly CheckedMember[],
    points: ContactPoints,
    isWanted: (one: CheckedMember) => boolean,
    at: Instant,
  ): readonly MemberRefusal[] {
    const refused: MemberRefusal[] = [];
    for (const one of checked) {
      const objection = this.#take(one, points, isWanted, at);
      if (objection !== undefined) refused.push({ name: one.name, ...objection });
    }
    for (const [name, entry] of this.#discovered) {
      const isConfigured = points.members.some((member) => member.name === name);
      if (isConfigured || at - entry.seenAt > this.#graceMs) this.#discovered.delete(name);
    }
    return refused;
  }

  #take(
    one: CheckedMember,
    points: ContactPoints,
    isWanted: (one: CheckedMember) => boolean,
    at: Instant,
  ): Objection | undefined {
    const configured = configuredAs(one, points);
    if (configured !== undefined) {
      if (one.postgres !== undefined) this.#learned.set(configured.name, one.postgres);
      if (configured.name !== one.name) {
        return { reason: 'duplicate', why: `its API is configured as ${configured.name}` };
      }
      return configured.postgres === undefined ? one.postgresWhy : undefined;
    }
    if (one.api === undefined) return both(one);
    if (!isWanted(one)) {
      return { reason: 'not_configured', why: 'neither a seed nor configured, and discovery is static' };
    }
    const known = this.#discovered.get(one.name);
    if (known === undefined && points.members.length + this.#discovered.size >= MAX_MEMBERS) {
      return { reason: 'too_many', why: `more than ${MAX_MEMBERS} members` };
    }
    const twin = [...this.#discovered.values()].find(
      ({ member }) => member.name !== one.name && sharesApi(member, one),
    );
    if (twin !== undefined && twin.seenAt >= at) {
      return { reason: 'duplicate', why: `its API is also that of ${shown(twin.member.name)}` };
    }
    if (known !== undefined && known.seenAt > at) return undefined;
    // The member was renamed: one API is one member.
    if (twin !== undefined) this.#discovered.delete(twin.member.name);
    const postgres = one.isPostgresGiven ? one.postgres : known?.member.postgres;
    this.#discovered.set(one.name, {
      member: { name: one.name, api: one.api, postgres, origin: 'discovered' },
      seenAt: at,
    });
    return one.postgresWhy;
  }
}

/** All objections in one sentence, so that the operator can fix them together. */
function both({ apiWhy, postgresWhy }: CheckedMember): Objection | undefined {
  if (apiWhy === undefined || postgresWhy === undefined || apiWhy.why === postgresWhy.why) return apiWhy ?? postgresWhy;
  const why = `${apiWhy.why}; ${postgresWhy.why}`;
  const remedies = [apiWhy.remedy, postgresWhy.remedy].filter((one) => one !== undefined);
  if (remedies.length < 2) return { reason: apiWhy.reason, why };
  const remedy = { hosts: remedies.flatMap(({ hosts }) => hosts), ports: remedies.flatMap(({ ports }) => ports) };
  return { reason: apiWhy.reason, why, remedy };
}

function sharesApi(member: Member, one: CheckedMember): boolean {
  return one.api !== undefined && isSameApi(member.api, one.api);
}

/** The configured member that a document's member is: by name, else by its API. */
export function configuredAs(one: CheckedMember, points: ContactPoints): Member | undefined {
  return (
    points.members.find((member) => member.name === one.name) ?? points.members.find((member) => sharesApi(member, one))
  );
}
