// One register, and whether a read that has shown too little of it is stale.

/** An epoch is a session of the writer: what a later one wrote is later, whatever its number is. */
export interface Value {
  readonly epoch: number;
  readonly n: number;
}

export interface Register {
  readonly id: number;
  /** Its writer's, one after the other. */
  readonly sessions: WriterSession[];
  /** Acknowledged last, and by which session. */
  floor: (Value & { readonly session: number }) | undefined;
}

interface WriterSession {
  /** Undefined: it goes on. */
  endedAtMs: number | undefined;
  /** The next session found this. */
  survived: Value | undefined;
}

/** A read that shows less than was acknowledged before it was sent. */
export interface ShortRead {
  readonly register: Register;
  readonly floor: NonNullable<Register['floor']>;
  readonly shown: Value & { readonly server: string };
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The newest session of the writer when the answer came. */
  readonly lastSession: number;
}

/** The writer may notice the loss so much later than a reader. */
const NOTICE_MS = 5_000;

export function isLess(one: Value, other: Value): boolean {
  return one.epoch < other.epoch || (one.epoch === other.epoch && one.n < other.n);
}

/** A failover has lost the write, and the read shows all that it has left. */
export function isLost({ register, floor, shown, untilMs, lastSession }: ShortRead): boolean {
  return register.sessions.slice(floor.session, lastSession + 1).some(({ endedAtMs, survived }) => {
    if (endedAtMs === undefined || survived === undefined || untilMs < endedAtMs - NOTICE_MS) return false;
    return isLess(survived, floor) && !isLess(shown, survived);
  });
}
