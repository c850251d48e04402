// Why a listening socket cannot be had, in the operator's words. Pure.
import { addressText, type Address } from '../../model/member.ts';
import { isUnixSocket, socketPath } from '../../model/unix-socket.ts';

export interface BindFailure {
  readonly address: Address;
  readonly reusePort: boolean;
  readonly error: NodeJS.ErrnoException;
  /** A listener of this program on the same port. */
  readonly own: Address | undefined;
}

export function explainBind({ address, reusePort, error, own }: BindFailure): string {
  const text = addressText(address);
  if (isUnixSocket(address)) return `${text}: ${explainFile(address, error)}`;
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      if (own !== undefined)
        return `${text} is in use by the listener ${addressText(own)}: take another port, or restart`;
      return reusePort
        ? `${text} is in use by another process that does not share it: it needs reuse_port too, and the same user`
        : `${text} is in use by another process`;
    case 'EACCES':
      return `${text} may not be bound by this user: ports below 1024 need a privilege`;
    case 'EADDRNOTAVAIL':
      return `${text} is not an address of this machine`;
    case 'ENOTFOUND':
      return `${text} cannot be resolved`;
    case 'ENOTSUP':
      return reusePort
        ? `${text} cannot be shared: reuse_port needs a system that deals out connections, such as Linux or FreeBSD`
        : `${text} cannot be bound: ${error.message}`;
    default:
      return `${text} cannot be bound: ${error.message}`;
  }
}

function explainFile(address: Address, error: NodeJS.ErrnoException): string {
  const file = socketPath(address);
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      return `another process serves ${file}: take another port, or reuse_port to take the file over from it`;
    case 'ENOTSOCK':
      return `${file} is no socket: remove it, or take another port`;
    case 'ENOENT':
    case 'ENOTDIR':
      return `there is no directory ${address.host}`;
    case 'EACCES':
    case 'EPERM':
      return `this user may not make, replace or use ${file}`;
    default:
      return `${file} cannot be bound: ${error.message}`;
  }
}

interface InheritedFd {
  readonly fd: number;
  readonly name: string;
}

export function explainAdoption({ fd, name }: InheritedFd, error: NodeJS.ErrnoException): string {
  const why = error.code === undefined ? error.message : `cannot be listened on (${error.code}): expected a TCP socket`;
  return `the socket that was passed as "${name}" (file descriptor ${fd}) ${why}`;
}

export function explainUnknownSocket({ name }: InheritedFd, address: Address, wanted: readonly Address[]): string {
  const listeners = wanted.map(addressText).join(', ');
  const problem = `is bound to ${addressText(address)}, which no listener names`;
  return `the socket that was passed as "${name}" ${problem}: there are ${listeners}`;
}
