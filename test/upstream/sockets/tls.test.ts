// TLS: certificates and names are verified as by the runtime's own client, with the authorities
// that the environment adds; sessions are resumed, and only HTTP/1.1 is offered.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { type Certificate, makeCertificate } from './certificates.ts';
import { createCaller, type RawServer, startRawServer, whole } from './rig.ts';

let right: Certificate;
let wrong: Certificate;
let server: RawServer;
let misnamed: RawServer;

beforeAll(async () => {
  right = makeCertificate('DNS:localhost,IP:127.0.0.1');
  wrong = makeCertificate('DNS:other.example');
  const answer: Parameters<typeof startRawServer>[0] = (socket) => {
    if (!(socket instanceof TLSSocket)) return;
    socket.write(whole(`${socket.alpnProtocol} ${socket.isSessionReused()}`));
  };
  const offers = { ALPNProtocols: ['h2', 'http/1.1'] };
  server = await startRawServer(answer, { tls: { key: right.key, cert: right.cert, ...offers } });
  misnamed = await startRawServer(answer, { tls: { key: wrong.key, cert: wrong.cert, ...offers } });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await misnamed[Symbol.asyncDispose]();
  right[Symbol.dispose]();
  wrong[Symbol.dispose]();
});

/** What calls made in a process that trusts this certificate came to. */
async function callTrusting(
  certificate: Certificate,
  ...args: readonly string[]
): Promise<unknown[]> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, '../../support/tls-caller.ts'), ...args],
    {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate.path },
      stdout: 'pipe',
    },
  );
  const lines = (await child.stdout.text()).trim().split('\n');
  return lines.map((line): unknown => JSON.parse(line));
}

test('a certificate of an unknown authority is refused, before a byte of the request', async () => {
  using caller = createCaller(server.port);
  expect(await caller.call({ baseUrl: `https://localhost:${server.port}` })).toEqual({
    class: 'unreachable',
    phase: 'connect',
    detail: 'no TLS connection could be made (DEPTH_ZERO_SELF_SIGNED_CERT)',
  });
  expect(server.requests()).toBe(0);
});

test('one that the environment vouches for is taken, for its name and its address', async () => {
  for (const host of ['localhost', '127.0.0.1']) {
    const url = `https://${host}:${server.port}`;
    expect(await callTrusting(right, url)).toEqual([{ text: 'http/1.1 false' }]);
  }
});

test('the second handshake is a short one', async () => {
  expect(await callTrusting(right, `https://localhost:${server.port}`, '3')).toEqual([
    { text: 'http/1.1 false' },
    { text: 'http/1.1 true' },
    { text: 'http/1.1 true' },
  ]);
});

test('a certificate for another name is refused, from any authority', async () => {
  for (const transport of ['sockets', 'fetch']) {
    const url = `https://localhost:${misnamed.port}`;
    expect(await callTrusting(wrong, url, '1', transport)).toEqual([
      expect.objectContaining({ class: 'unreachable' }),
    ]);
  }
  expect(misnamed.requests()).toBe(0);
});

test('plain text is not spoken to TLS', async () => {
  using caller = createCaller(server.port);
  const failure = await caller.call({ baseUrl: `http://127.0.0.1:${server.port}` });
  expect(failure).toMatchObject({ class: expect.stringMatching(/^(malformed|unreachable)$/) });
});
