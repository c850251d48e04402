// A server's process that waits: for its disk, for a standby, or for time to pass.

/** `canceled`: by a cancel request. */
export type Interruption = 'canceled' | undefined;

export interface Wait {
  /** A cancel request does not end a wait for the disk. */
  readonly for: 'disk' | 'standby' | 'time';
  /** Calls `resume` once, unless it is given up. Returns how to give it up. */
  begin(resume: () => void): () => void;
}

/** A part of the work of a process. It yields where the process waits, and goes on with the reason. */
export type Work<Result = void> = Generator<Wait, Result, Interruption>;
