// The list of members as discovery remembers it: configured ones always, discovered ones until a document has not named them
// for the grace. A document adds and confirms; only time takes away.
import type { Instant } from '../core/instant.ts';
import type { Address, Member, MemberName } from '../core/member.ts';
import { isSameApi } from './contact-points.ts';
import type { ContactPoints, Refusal } from './contact-points.ts';
import type { Vetted } from './vet.ts';

/** Members at most; documents are hostile bytes. */
export const MAX_MEMBERS = 100;

export interface Absent {
  readonly name: MemberName;
  /** Since the last document that named it. */
  readonly sinceMs: number;
}

interface Entry {
  readonly member: Member;
  /** Start of the newest read whose document named it. */
  readonly seenAt: Instant;
}

export class Roster {
  readonly #graceMs: number;
  readonly #discovered = new Map<MemberName, Entry>();
  /** PostgreSQL addresses of configured members that the configuration does not give. */
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

  absent(at: Instant): readonly Absent[] {
    return [...this.#discovered.values()].flatMap(({ member, seenAt }) =>
      seenAt < at ? [{ name: member.name, sinceMs: at - seenAt }] : [],
    );
  }

  /** Takes in one document's vetted members. `at`: the start of its read. Returns who was not taken, and why. */
  apply(vetted: readonly Vetted[], points: ContactPoints, isWanted: (one: Vetted) => boolean, at: Instant): Refusal[] {
    const refused: Refusal[] = [];
    for (const one of vetted) {
      const why = this.#take(one, points, isWanted, at);
      if (why !== undefined) refused.push({ name: one.name, why });
    }
    for (const [name, entry] of this.#discovered) {
      const isConfigured = points.members.some((member) => member.name === name);
      if (isConfigured || at - entry.seenAt > this.#graceMs) this.#discovered.delete(name);
    }
    return refused;
  }

  #take(one: Vetted, points: ContactPoints, isWanted: (one: Vetted) => boolean, at: Instant): string | undefined {
    const configured = configuredAs(one, points);
    if (configured !== undefined) {
      if (one.postgres !== undefined) this.#learned.set(configured.name, one.postgres);
      if (configured.name !== one.name) return `its API is configured as ${configured.name}`;
      return configured.postgres === undefined ? one.postgresWhy : undefined;
    }
    if (one.api === undefined) return one.apiWhy;
    if (!isWanted(one)) return 'neither a seed nor configured, and discovery is static';
    const known = this.#discovered.get(one.name);
    if (known === undefined && points.members.length + this.#discovered.size >= MAX_MEMBERS) {
      return `more than ${MAX_MEMBERS} members`;
    }
    const twin = [...this.#discovered.values()].find(
      ({ member }) => member.name !== one.name && sharesApi(member, one),
    );
    if (twin !== undefined && twin.seenAt >= at) return `its API is also that of ${twin.member.name}`;
    if (known !== undefined && known.seenAt > at) return undefined;
    // A member that was renamed: one API is one member.
    if (twin !== undefined) this.#discovered.delete(twin.member.name);
    const postgres = one.isPostgresGiven ? one.postgres : known?.member.postgres;
    this.#discovered.set(one.name, {
      member: { name: one.name, api: one.api, postgres, origin: 'discovered' },
      seenAt: at,
    });
    return one.postgresWhy;
  }
}

function sharesApi(member: Member, one: Vetted): boolean {
  return one.api !== undefined && isSameApi(member.api, one.api);
}

/** The configured member that a document means: by name, else by its API. */
export function configuredAs(one: Vetted, points: ContactPoints): Member | undefined {
  return (
    points.members.find((member) => member.name === one.name) ?? points.members.find((member) => sharesApi(member, one))
  );
}
