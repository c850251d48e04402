// A session of some driver, whose state a test sets up and asks for again. Each call rejects with a ProgramError when
// the driver has one.

export interface DrivenSession {
  /** It is the session's application_name. */
  readonly name: string;
  /** Everything that the driver told without being asked: notices, errors, the end of the session. */
  readonly events: readonly string[];
  run(statement: string): Promise<void>;
  /** The first column of the first row as text; '' for null, and when there is none. */
  value(statement: string): Promise<string>;
  /** Another verb of test/e2e/moves/programs/README.md. */
  ask(verb: string, ...words: readonly (string | number)[]): Promise<string>;
}

export interface RunningProgram {
  /** `options`: of the startup packet. */
  open(name: string, options?: string): Promise<DrivenSession>;
  stop(): Promise<void>;
}

export class ProgramError extends Error {
  /** Empty: it is no error of a server. */
  readonly state: string;

  constructor(state: string, text: string) {
    super(text);
    this.state = state;
  }
}

/** The SQLSTATE and the text of a failure that must come. */
export async function failureOf(asked: Promise<unknown>): Promise<ProgramError> {
  const failure = await asked.then(
    (value) => new Error(`no error, but ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (failure instanceof ProgramError) return failure;
  throw failure;
}
