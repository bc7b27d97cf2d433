// Opens servers of `node:net` on ports that the system chooses.

import { createServer, type Server } from 'node:net';

/**
 * Ports below those that the system chooses on Linux and macOS, so that no server of another test
 * takes one before the program that it is for does. The nodes of a Redis cluster also listen 10,000
 * ports higher, which is below them, too.
 */
const CHOSEN = { from: 12_000, count: 10_000 };

/** Resolves to the port. */
export async function listen(server: Server, host = '127.0.0.1', wanted = 0): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(wanted, host, resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A port without a listener, for programs that cannot report the one that they chose. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = CHOSEN.from + Math.floor(Math.random() * CHOSEN.count);
    const server = createServer();
    const isFree = await listen(server, '127.0.0.1', port).then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}
