// Positions in the WAL, `16/B374D848`.

export function position(lsn: string): bigint {
  const [high, low, ...more] = lsn.split('/');
  if (high === undefined || low === undefined || more.length > 0 || !/^[0-9A-F]+\/[0-9A-F]+$/i.test(lsn)) {
    throw new Error(`'${lsn}' is no position in the WAL`);
  }
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
