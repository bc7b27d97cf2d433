// A server that accepts connections and never answers, so that no TLS handshake completes: for
// tests of events during connection setup.

import { createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

export type SilentServer = {
  /** With `https:`. */
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: () => number;
  readonly close: () => void;
};

/** `onGone` is called for each connection that the other side has closed. */
export async function startSilentServer(onGone: () => void = () => {}): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    // What is not read would hide that the other side has closed.
    socket.on('data', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      onGone();
    });
  });
  return {
    url: `https://127.0.0.1:${await listen(server)}/v1`,
    connections: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
