// Ports without working HTTP, for tests of failing upstreams: one closes every connection, one
// resets it, one accepts and stays silent, one has no listener.

import { createServer, type Server, type Socket } from 'node:net';
import { listen } from './listen.ts';

export type DeadPorts = {
  /** Addresses without a path; `plainForTls` is an https one of a server that speaks none. */
  readonly urls: {
    readonly closed: string;
    readonly hangsUp: string;
    readonly resets: string;
    readonly silent: string;
    readonly plainForTls: string;
    readonly unknownHost: string;
  };
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export async function openDeadPorts(): Promise<DeadPorts> {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const open = async (greet: (socket: Socket) => void): Promise<string> => {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      greet(socket);
    });
    servers.push(server);
    return `127.0.0.1:${await listen(server)}`;
  };
  const hangsUp = await open((socket) => socket.end());
  const resets = await open((socket) => socket.resetAndDestroy());
  const silent = await open(() => {});
  const plain = await open((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'));
  });
  return {
    urls: {
      // The lowest port, which no server of a test is ever given.
      closed: 'http://127.0.0.1:1',
      hangsUp: `http://${hangsUp}`,
      resets: `http://${resets}`,
      silent: `http://${silent}`,
      plainForTls: `https://${plain}`,
      unknownHost: 'http://no-such-host.invalid',
    },
    [Symbol.asyncDispose]: async () => {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}
