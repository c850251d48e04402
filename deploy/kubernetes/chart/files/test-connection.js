// Asks each HOST:PORT for a PostgreSQL session in TLS, as any client begins, and leaves before the login. The answer is
// one byte, S or N. It comes from the member that the pool routes to, or from Pointsman where it answers TLS requests
// itself. During a failover Pointsman holds the request, so this waits.
const net = require('node:net');
const [seconds, ...addresses] = process.argv.slice(1);
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');

for (const address of addresses) {
  const colon = address.lastIndexOf(':');
  const socket = net.connect({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)) });
  const end = (isWell, text) => {
    console.log(`${address}: ${text}`);
    if (!isWell) process.exitCode = 1;
    clearTimeout(timer);
    socket.removeAllListeners('close').destroy();
  };
  const timer = setTimeout(() => end(false, `no answer in ${seconds} s`), seconds * 1000);
  socket.on('connect', () => socket.write(SSL_REQUEST));
  socket.on('data', (data) => {
    const first = String.fromCharCode(data[0]);
    if (first === 'S' || first === 'N') end(true, `PostgreSQL answers, ${first === 'S' ? 'with' : 'without'} TLS`);
    else end(false, `not the answer of PostgreSQL: ${data.toString('latin1').replaceAll(/[^ -~]+/g, ' ')}`);
  });
  socket.on('error', (error) => end(false, error.message));
  socket.on('close', () => end(false, 'closed without an answer'));
}
