/** Whether a secret would cross the network in plain text. */
export function isPlainRemote(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(?:127\.[\d.]+|\[::1\]|localhost)$/.test(hostname);
}
