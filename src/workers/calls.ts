// Calls from one end of a channel to the other, each with its own id, and their replies. A call without a reply waits
// for ever: the caller sets the limit.

/** One kind of call: its argument, and its reply. Both ends have a table of them (messages.ts). */
export interface CallKind<Argument, Reply> {
  readonly argument: Argument;
  readonly reply: Reply;
}

type CallTable<Kinds> = Record<keyof Kinds, CallKind<unknown, unknown>>;

type MessageByKind<Kinds extends CallTable<Kinds>> = {
  readonly [Kind in keyof Kinds]: {
    readonly kind: 'call';
    readonly id: number;
    readonly what: Kind;
    readonly argument: Kinds[Kind]['argument'];
  };
};
export type CallMessage<Kinds extends CallTable<Kinds>> = MessageByKind<Kinds>[keyof Kinds];

export interface ReplyMessage {
  readonly kind: 'reply';
  readonly id: number;
  readonly reply: unknown;
}

interface PendingCall {
  readonly take: (reply: unknown) => void;
  readonly end: () => void;
}

export class Calls<Kinds extends CallTable<Kinds>> {
  readonly #send: (message: CallMessage<Kinds>) => void;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;

  constructor(send: (message: CallMessage<Kinds>) => void) {
    this.#send = send;
  }

  /** `atEnd`: the reply when the channel has ended. Absent: this end does not outlive the other one. */
  call<Kind extends keyof Kinds>(
    what: Kind,
    argument: Kinds[Kind]['argument'],
    atEnd?: Kinds[Kind]['reply'],
  ): Promise<Kinds[Kind]['reply']> {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve } = Promise.withResolvers<Kinds[Kind]['reply']>();
    this.#pending.set(id, { take: resolve, end: () => resolve(atEnd) });
    const message: MessageByKind<Kinds>[Kind] = { kind: 'call', id, what, argument };
    this.#send(message);
    return promise;
  }

  /** Ignores an id that is not pending. */
  take({ id, reply }: ReplyMessage): void {
    this.#pending.get(id)?.take(reply);
    this.#pending.delete(id);
  }

  /** The channel has ended: no more replies come. */
  end(): void {
    for (const { end } of this.#pending.values()) end();
    this.#pending.clear();
  }
}

/** A function for each kind of call, at the end that is called. */
export type CallHandlers<Kinds extends CallTable<Kinds>> = {
  readonly [Kind in keyof Kinds]: (
    argument: Kinds[Kind]['argument'],
  ) => Kinds[Kind]['reply'] | Promise<Kinds[Kind]['reply']>;
};

/** Never rejects if no handler does. */
export async function answerCall<Kinds extends CallTable<Kinds>>(
  handlers: CallHandlers<Kinds>,
  { id, what, argument }: CallMessage<Kinds>,
  send: (reply: ReplyMessage) => void,
): Promise<void> {
  send({ kind: 'reply', id, reply: await handlers[what](argument) });
}
