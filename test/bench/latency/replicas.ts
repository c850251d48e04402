// The replicas of one run, of which the last is slow, and the clients that ask them.
export interface Delays {
  /** Each query takes so long on a healthy replica. Milliseconds. */
  readonly replyMs: number;
  /** So many times as long on the slow one. */
  readonly slower: number;
}

export interface Replicas extends AsyncDisposable {
  /** As Pointsman has them: the primary is the first, and the slow replica the last. */
  readonly members: readonly { readonly name: string; readonly api: string; readonly postgres: string }[];
  /** A session through that port of Pointsman. */
  readonly open: (port: number) => Promise<AskingClient>;
  /** Sessions since the start that have asked something. */
  readonly sessions: () => { readonly all: number; readonly onSlow: number };
}

export interface AskingClient {
  /** One query, until its whole reply is there. */
  readonly ask: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}
