// Opens a connection to a server and logs in, with the password from its file.
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { QuestionsPolicy } from '../model/causal-reads.ts';
import { errnoText, errorCode, fileFault } from '../model/errno.ts';
import { passwordIn } from '../model/password-file.ts';
import { PasswordLogin, type LoginTools, type PasswordLoginStep } from '../wire/talk/password-login.ts';
import { POSITION_SETTINGS } from '../wire/talk/position-question.ts';
import { preparedPassword } from '../wire/talk/sasl-prep.ts';

export interface LogInOptions {
  readonly policy: QuestionsPolicy;
  /** With TLS where `backend.tls` wants it. Rejects with words for people. */
  readonly connect: (signal: AbortSignal) => Promise<Socket>;
  readonly tools: LoginTools;
  /** `tls-server-end-point` of the server's certificate. Undefined: no TLS. */
  readonly endPointOf: (socket: Socket) => Uint8Array | undefined;
}

export interface OpenedConnection {
  /** Paused. */
  readonly socket: Socket;
  /** The first number of server_version. */
  readonly serverMajor: number;
}

/** Rejects with words for people, and soon after `signal` was aborted. */
export async function logIn(options: LogInOptions, signal: AbortSignal): Promise<OpenedConnection> {
  const { policy, connect, tools, endPointOf } = options;
  const password = await passwordOf(policy.passwordFile);
  signal.throwIfAborted();
  const socket = await connect(signal);
  const { promise, resolve, reject } = Promise.withResolvers<OpenedConnection>();
  const login = new PasswordLogin({
    settings: { user: policy.user, database: policy.database, ...POSITION_SETTINGS },
    nonce: tools.nonce(),
    serverHash: endPointOf(socket),
    hasPassword: password !== undefined,
    hashes: tools.hashes,
  });
  const step = (next: PasswordLoginStep): void => {
    switch (next.kind) {
      case 'wait':
        return;
      case 'send':
        socket.write(next.bytes);
        return;
      case 'salt': {
        const bytes = new TextEncoder().encode(preparedPassword(password ?? ''));
        void tools.salted(bytes, next.salt, next.iterations).then((key) => step(login.salted(key)), reject);
        return;
      }
      case 'done':
        if (next.result.kind === 'failed') return reject(new Error(next.result.why));
        return resolve({ socket, serverMajor: Number.parseInt(next.parameters.get('server_version') ?? '', 10) });
    }
  };
  const taken = (chunk: Uint8Array): void => step(login.take(chunk));
  const closed = (): void => reject(new Error('the server closed the connection during the login'));
  const failed = (error: Error): void => reject(new Error(errnoText(errorCode(error)) ?? error.message));
  const aborted = (): void => reject(new Error('given up'));
  signal.addEventListener('abort', aborted);
  socket.on('data', taken).on('end', closed).on('close', closed).on('error', failed);
  if (signal.aborted) aborted();
  socket.resume();
  socket.write(login.start());
  try {
    return await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    socket.pause();
    login.clear();
    signal.removeEventListener('abort', aborted);
    socket.off('data', taken).off('end', closed).off('close', closed);
  }
}

async function passwordOf(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`${file} cannot be read: ${fileFault(error)}`);
  });
  const { password, why } = passwordIn(content);
  if (password === undefined) throw new Error(`${file} ${why}`);
  return password;
}
