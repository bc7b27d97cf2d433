// Opens servers of `node:net` on ports that the system chooses.

import { createServer, type Server } from 'node:net';

/** Resolves to the port. */
export async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(0, host, resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A port without a listener, for programs that cannot report the one that they chose. */
export async function freePort(below = 65_536): Promise<number> {
  for (;;) {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    if (port < below) return port;
  }
}
