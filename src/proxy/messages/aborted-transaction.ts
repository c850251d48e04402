// The words to a client whose transaction was ended so that its session can move.
import { encodeErrorResponse } from '../../wire/messages/error-response.ts';

/** `why`: the member, and why its sessions leave it. PostgreSQL's own code for a transaction that is worth a retry. */
export function abortedTransaction(why: string): Uint8Array {
  return encodeErrorResponse({
    severity: 'ERROR',
    sqlState: '40001',
    message: 'the transaction was rolled back, because its server is being changed',
    detail: `${why}. The session goes on at the next server.`,
    hint: 'Run the transaction again.',
  });
}
