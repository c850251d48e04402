/** Why the platform refuses a request. The contract shows no status and no body of an error. */
export class PlatformRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
