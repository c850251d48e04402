// One exchange with a running Pointsman, and why it failed. With TLS: verified with the certificates that Node trusts
// (NODE_EXTRA_CA_CERTS adds some).
import { errorOf } from '../http/exchange-error.ts';
import { exchange, type ExchangeAnswer, type ExchangeRequest } from '../http/exchange.ts';
import { addressText, type Address } from '../model/member.ts';

export interface AdminServer {
  readonly address: Address;
  /** A proxy in front of the admin address answers TLS. */
  readonly isTls: boolean;
}

/** Rejects with an ExchangeError. */
export function adminExchange(
  { address, isTls }: AdminServer,
  request: Omit<ExchangeRequest, 'url'>,
): Promise<ExchangeAnswer> {
  // No URL can have the zone of an IPv6 address.
  const host = address.host.replace(/%.*/, '');
  const url = `${isTls ? 'https' : 'http'}://${addressText({ ...address, host })}`;
  return exchange({ ...request, url, target: address });
}

/** In words an operator reads. */
export function whyNot(error: unknown): string {
  const { fault, message } = errorOf(error);
  // Any other fault of a server that speaks TLS may be its version, or its wish for a certificate.
  if (/\b(?:wrong version number|packet length too long)\b/.test(message))
    return 'it does not speak TLS: write http://';
  return fault === 'refused' ? 'connection refused' : message;
}
