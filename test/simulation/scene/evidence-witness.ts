// Sees which evidence about each member one Pointsman has been given, and which bytes of its clients it sends where. It
// knows the rules of src/guarantees.md and nothing of the program.
import type { HttpResult, Request } from '../../../src/patroni/http.ts';
import type { Clock } from '../../../src/model/instant.ts';
import type { Witness } from '../pointsman/simulated-pointsman.ts';

export interface EvidenceLimits {
  /** An answer of another cluster is a no. */
  readonly systemIdentifier: string;
  readonly writeMaxAgeMs: number;
  readonly silenceGraceMs: number;
  /** A worker knows it so much later. Milliseconds. */
  readonly delayMs: number;
  /** Another member's word may count as evidence. */
  readonly vouching: boolean;
  /** With moves a startup packet may be a question whether a server still takes clients in (moves/loss-inquiry.ts). */
  readonly asksByStartup: boolean;
}

interface Evidence {
  /** The begin of the last request that was answered with yes. */
  yesAskedAt: number;
  /** When it was answered. */
  yesAt: number;
  noAt: number;
  /** Its API refused. If its server refuses, too, that is a no; this is not seen here. */
  refusedAt: number;
  timeline: number;
}

/** A primary below the highest timeline is refused for so long at least (guarantees.md: timelines). Milliseconds. */
const REFUSED_MS = 29_000;
const NEVER: Evidence = { yesAskedAt: -Infinity, yesAt: -Infinity, noAt: -Infinity, refusedAt: -Infinity, timeline: 0 };
const WRITES = /INSERT INTO writes|SELECT transfer\(|^COMMIT/;
/** A startup packet of protocol 3.0 begins so, behind its length. */
const PROTOCOL_3 = '\0\u0003\0\0';

export class EvidenceWitness implements Witness {
  /** Sentences, each about one broken rule. */
  readonly broken: string[] = [];
  readonly #clock: Clock;
  readonly #limits: EvidenceLimits;
  readonly #evidence = new Map<string, Evidence>();
  /** Addresses that are no member's any more. */
  readonly #gone = new Set<string>();
  /** The highest timeline of a primary, and when it was shown last. */
  #highest = { timeline: 0, at: -Infinity };

  constructor(clock: Clock, limits: EvidenceLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  readonly answered = ({ api, path }: Request, askedAt: number, result: HttpResult): void => {
    if (!/^\/(?:primary|replica)/.test(path)) return;
    const { host } = api.address;
    const before = this.#evidence.get(host) ?? NEVER;
    if (result.kind === 'refused') this.#evidence.set(host, { ...before, refusedAt: this.#clock.now() });
    if (result.kind !== 'answered' || this.#gone.has(host)) return;
    const node = nodeOf(result.body);
    if (node?.systemIdentifier === undefined) return;
    const isOther = node.systemIdentifier !== this.#limits.systemIdentifier;
    if (isOther) return void this.#evidence.set(host, { ...before, noAt: this.#clock.now() });
    const isPrimary = result.status === 200 && node.role === 'primary' && node.state === 'running';
    const isNo = node.role === 'replica' || (path.startsWith('/primary') && result.status === 503);
    const timeline = node.timeline ?? before.timeline;
    if (isNo) this.#evidence.set(host, { ...before, timeline, noAt: this.#clock.now() });
    else if (isPrimary && path.startsWith('/primary')) {
      this.#evidence.set(host, {
        ...before,
        timeline,
        yesAskedAt: Math.max(before.yesAskedAt, askedAt),
        yesAt: this.#clock.now(),
      });
      if (timeline >= this.#highest.timeline) this.#highest = { timeline, at: this.#clock.now() };
      this.#proven(host, timeline);
    }
  };

  /** No member has this address any more. */
  forget(host: string): void {
    this.#gone.add(host);
    this.#evidence.delete(host);
  }

  readonly sent: Witness['sent'] = ({ address }, bytes) => {
    if (this.#gone.has(address)) return;
    const text = Buffer.from(bytes).toString('latin1');
    if (text.startsWith(PROTOCOL_3, 4) && text.includes('application_name\0w')) this.#mayOpen(address);
    else if (WRITES.test(text)) this.#mayWrite(address);
  };

  /** Another primary on a higher timeline is a no to the others. */
  #proven(host: string, timeline: number): void {
    for (const [other, evidence] of this.#evidence) {
      if (other !== host && evidence.timeline < timeline && evidence.yesAskedAt > evidence.noAt) {
        this.#evidence.set(other, { ...evidence, noAt: this.#clock.now() });
      }
    }
  }

  #mayOpen(host: string): void {
    if (this.#limits.asksByStartup) return;
    const { yesAskedAt } = this.#evidence.get(host) ?? NEVER;
    const age = this.#clock.now() - yesAskedAt;
    const { vouching, writeMaxAgeMs, delayMs } = this.#limits;
    this.#againstOthers(host);
    if (!vouching && age > writeMaxAgeMs + delayMs) {
      this.broken.push(`G2: a write session opens at ${host}, whose last yes is ${age.toFixed(1)} ms old`);
    }
    this.#afterNo(host, 'a write session opens');
  }

  /** No session opens below the highest timeline, nor while two members are primaries of one timeline. */
  #againstOthers(host: string): void {
    const now = this.#clock.now();
    const { delayMs, writeMaxAgeMs } = this.#limits;
    const { timeline } = this.#evidence.get(host) ?? NEVER;
    const highest = this.#highest;
    const isFenced = timeline < highest.timeline && now - highest.at < REFUSED_MS && now - highest.at > delayMs;
    if (isFenced) this.broken.push(`G2: a write session opens at ${host}, below timeline ${highest.timeline}`);
    for (const [other, { yesAskedAt, noAt, refusedAt, timeline: its, yesAt }] of this.#evidence) {
      const isYes = yesAskedAt > Math.max(noAt, refusedAt) && now - yesAskedAt < writeMaxAgeMs;
      if (other !== host && its === timeline && isYes && now - yesAt > delayMs) {
        this.broken.push(`G1: a write session opens at ${host}, while ${other} is a primary of its timeline, too`);
      }
    }
  }

  #mayWrite(host: string): void {
    const { yesAskedAt } = this.#evidence.get(host) ?? NEVER;
    const age = this.#clock.now() - yesAskedAt;
    const { vouching, silenceGraceMs, delayMs } = this.#limits;
    if (!vouching && age > silenceGraceMs + delayMs) {
      this.broken.push(`G4: a write goes to ${host}, whose last yes is ${age.toFixed(1)} ms old`);
    }
    this.#afterNo(host, 'a write goes');
  }

  #afterNo(host: string, what: string): void {
    const { yesAskedAt, noAt } = this.#evidence.get(host) ?? NEVER;
    const since = this.#clock.now() - noAt;
    if (noAt > yesAskedAt && since > this.#limits.delayMs) {
      this.broken.push(`G3: ${what} to ${host}, ${since.toFixed(1)} ms after it has said no`);
    }
  }
}

interface Node {
  readonly role: string | undefined;
  readonly state: string | undefined;
  readonly timeline: number | undefined;
  readonly systemIdentifier: string | undefined;
}

function nodeOf(body: string): Node | undefined {
  try {
    const json: unknown = JSON.parse(body);
    if (typeof json !== 'object' || json === null) return undefined;
    const text = (key: string): string | undefined => {
      const value: unknown = Reflect.get(json, key);
      return typeof value === 'string' ? value.replace('master', 'primary') : undefined;
    };
    const timeline: unknown = Reflect.get(json, 'timeline');
    return {
      role: text('role'),
      state: text('state'),
      timeline: typeof timeline === 'number' ? timeline : undefined,
      systemIdentifier: text('database_system_identifier'),
    };
  } catch {
    return undefined;
  }
}
