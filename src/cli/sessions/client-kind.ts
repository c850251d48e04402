// A client as an operator writes it.
import { isIP } from 'node:net';
import { LOCAL_CLIENT } from '../../model/unix-socket.ts';

/** `10.0.0.5`, `[local]`, `[2001:db8::1]:51234`. Undefined: neither an address nor an address with its port. */
export function clientKind(text: string): 'address' | 'with_port' | undefined {
  if (text === LOCAL_CLIENT) return 'address';
  const [, six, four = text, port] = /^(?:\[(.+)\]|([^:]+))(:\d+)?$/.exec(text) ?? [];
  if (isIP(six ?? four) === 0) return undefined;
  return port === undefined ? 'address' : 'with_port';
}
