// A client as an operator writes it.
import { isIP } from 'node:net';

/** `10.0.0.5`, `[2001:db8::1]:51234`. Undefined: it is neither an address nor an address with its port. */
export function clientKind(text: string): 'address' | 'with_port' | undefined {
  const [, six, four = text, port] = /^(?:\[(.+)\]|([^:]+))(:\d+)?$/.exec(text) ?? [];
  if (isIP(six ?? four) === 0) return undefined;
  return port === undefined ? 'address' : 'with_port';
}
