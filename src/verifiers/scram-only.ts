// Watches the login of the lookup role. The library `pg` answers whatever a server asks: this ends the connection
// before the answer. A password goes out by SCRAM-SHA-256 alone, which tells nothing to a server that does not know it,
// and the login counts with the server's signature alone. Messages: protocol, Message Formats, Authentication*.

/** AuthenticationRequest: its codes. */
const OK = 0;
const SASL = 10;
const SASL_CONTINUE = 11;
const SASL_FINAL = 12;
const UNPROVEN = 'the server has not proven that it knows the password';
const MECHANISM = 'SCRAM-SHA-256';
/** 150 times PostgreSQL's own: each of them is work for this process. The library has a lower limit by default. */
export const MOST_ITERATIONS = 600_000;
const METHODS: ReadonlyMap<number, string> = new Map([
  [2, 'Kerberos'],
  [3, 'the password in plain text'],
  [5, 'md5'],
  [7, 'GSSAPI'],
  [9, 'SSPI'],
]);

export class ScramOnly {
  /** There is one. Without it a server that asks for nothing is believed: there is nothing to lose. */
  readonly #hasPassword: boolean;
  #expected = SASL;
  #isOver = false;

  constructor(hasPassword: boolean) {
    this.#hasPassword = hasPassword;
  }

  /** The body of the next AuthenticationRequest. Returns why the connection must end. */
  refusal(body: Buffer): string | undefined {
    const code = body.length < 4 ? -1 : body.readInt32BE(0);
    if (code === OK) return this.#atEnd();
    if (code !== SASL && code !== SASL_CONTINUE && code !== SASL_FINAL) {
      return `the server asks for ${METHODS.get(code) ?? `method ${code}`}: Pointsman logs in by ${MECHANISM} alone`;
    }
    if (code !== this.#expected) return 'the messages of the login have the wrong order';
    this.#expected += 1;
    const text = body.toString('latin1', 4);
    if (code === SASL && !text.split('\0').includes(MECHANISM)) return `the server does not offer ${MECHANISM}`;
    const iterations = code === SASL_CONTINUE ? Number(/,i=(\d+)/.exec(text)?.[1]) : 1;
    return iterations <= MOST_ITERATIONS ? undefined : 'the challenge of the server is invalid';
  }

  /** ReadyForQuery: the library takes the login for done, whatever came before. */
  refusalAtReady(): string | undefined {
    return this.#isOver ? undefined : UNPROVEN;
  }

  /** The library has checked the signature of SASL_FINAL. */
  #atEnd(): string | undefined {
    const hasProven = this.#expected > SASL_FINAL;
    this.#isOver = hasProven || (!this.#hasPassword && this.#expected === SASL);
    return this.#isOver ? undefined : UNPROVEN;
  }
}
