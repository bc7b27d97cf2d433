// The way from a server thread to the main thread for what the main thread alone can answer: pages,
// readiness and metrics. A socket in a folder that nobody else may enter, so what comes through it
// is believed; the address of the client comes along.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InFlight } from '../../generate/in-flight.ts';
import { type Mount, socketAddressOf, targetOf } from '../../http/exchange.ts';

const CLIENT_HEADER = 'x-tollgate-client';

/** Of one connection, and of no request. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'te', 'transfer-encoding', 'upgrade'];

/** Our own checks of bodies come first. */
const BODY_BYTES_MAX = 1_073_741_824;

export type ThreadProxy = {
  readonly path: string;
  readonly close: () => Promise<void>;
};

/** In the main thread: answers what the others hand over. */
export function openProxy(answer: Mount): ThreadProxy {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'));
  const path = join(folder, 'main.sock');
  const server = Bun.serve({
    unix: path,
    maxRequestBodySize: BODY_BYTES_MAX,
    development: false,
    fetch(request) {
      const address = request.headers.get(CLIENT_HEADER) ?? '';
      request.headers.delete(CLIENT_HEADER);
      // The thread that the client is connected to looks after the time.
      return answer(request, { requestIP: () => ({ address }), timeout: () => undefined });
    },
  });
  return {
    path,
    async close() {
      await server.stop(true);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * In a server thread: has the main thread answer, under the name by which the client called. `work`
 * has each of them until its last byte.
 */
export function createProxy(path: string, work: Pick<InFlight, 'enter' | 'exit'>): Mount {
  let count = 0;
  return async (request, server) => {
    count += 1;
    const name = `proxied ${count}`;
    const leave = (): void => work.exit(name);
    work.enter(name, { stop: () => undefined });
    request.signal.addEventListener('abort', leave);
    server?.timeout(request, 0);
    // A host that no URL can have is left out of it; its header goes along.
    const { pathname, search, host } = targetOf(request);
    const headers = new Headers(request.headers);
    for (const name of HOP_BY_HOP) headers.delete(name);
    headers.set(CLIENT_HEADER, socketAddressOf(request, server));
    try {
      const response = await fetch(`http://${host}${pathname}${search}`, {
        unix: path,
        method: request.method,
        headers,
        body: request.body,
        redirect: 'manual',
        decompress: false,
        signal: request.signal,
      });
      if (response.body === null) leave();
      const body = response.body?.pipeThrough(new TransformStream({ flush: leave }));
      return new Response(body, response);
    } catch {
      // The client has left, or the main thread is about to end.
      leave();
      return new Response(null, { status: 503, headers: { 'retry-after': '1' } });
    }
  };
}
