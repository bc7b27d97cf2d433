// From a name to a connection: addresses in rotation, cached answers, stale ones when a lookup
// fails, and forbidden addresses, for both transports.

import { describe, expect, test } from 'bun:test';
import { networkInterfaces } from 'node:os';
import { createResolver, type Lookup } from '../../../src/upstream/resolver.ts';
import { createCaller, startRawServer, whole } from './rig.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

const FORBIDDEN = expect.objectContaining({
  class: 'unreachable',
  detail: expect.stringContaining('allow_link_local'),
});

describe('connections', () => {
  test.skipIf(!hasIpv6)('IPv6, with the brackets where they belong', async () => {
    let host = '';
    await using server = await startRawServer(
      (socket, { text }) => {
        host = /host: (.*)\r/.exec(text)?.[1] ?? '';
        socket.write(whole('six'));
      },
      { host: '::1' },
    );
    using caller = createCaller(server.port);
    expect(await caller.text({ baseUrl: `http://[::1]:${server.port}` })).toBe('six');
    expect(host).toBe(`[::1]:${server.port}`);
  });

  test('the next address where one refuses', async () => {
    await using server = await startRawServer((socket) => socket.write(whole('second')));
    using caller = createCaller(server.port, { lookup: async () => ['127.0.0.9', '127.0.0.1'] });
    expect(await caller.text({ baseUrl: `http://two.example:${server.port}` })).toBe('second');
  });

  test('no name, no connection', async () => {
    using caller = createCaller(1, { lookup: () => Promise.reject(new Error('none')) });
    expect(await caller.call({ baseUrl: 'http://none.example' })).toMatchObject({
      class: 'unreachable',
      detail: 'its host name could not be resolved',
    });
  });

  test('a lookup that hangs costs the connect time', async () => {
    using caller = createCaller(1, { lookup: () => new Promise(() => {}) });
    const failure = await caller.call({ baseUrl: 'http://slow.example', connectMs: 50 });
    expect(failure).toMatchObject({ class: 'timeout', phase: 'connect' });
  });

  test.each(['sockets', 'fetch'] as const)(
    'given up while its name is looked up: there was no connection, by %s',
    async (transport) => {
      const leave = new AbortController();
      const lookup: Lookup = () => {
        leave.abort();
        return new Promise(() => {});
      };
      using caller = createCaller(1, { lookup });
      const { signal } = leave;
      const failure = await caller.call({ baseUrl: 'http://slow.example', transport, signal });
      expect(failure).toMatchObject({ class: 'cut', phase: 'connect' });
      // The same for a call that was given up before it was made.
      expect(await caller.call({ baseUrl: 'http://127.0.0.1', transport, signal })).toEqual(
        failure,
      );
    },
  );

  test.each(['sockets', 'fetch'] as const)('no link-local address, by %s', async (transport) => {
    let refused = 0;
    const lookup: Lookup = async () => {
      refused += 1;
      return ['169.254.169.254'];
    };
    using caller = createCaller(1, { lookup });
    expect(await caller.call({ baseUrl: 'http://rebound.example', transport })).toEqual(FORBIDDEN);
    expect(await caller.call({ baseUrl: 'http://[fe80::1]', transport })).toEqual(FORBIDDEN);
    expect(await caller.call({ baseUrl: 'http://0xA9FEA9FE', transport })).toEqual(FORBIDDEN);
    expect(refused).toBe(1);
  });

  test('a proxy is asked by the runtime, and gets the whole address', async () => {
    let line = '';
    await using proxy = await startRawServer((socket, { text }) => {
      line = text.slice(0, text.indexOf('\r\n'));
      socket.write(whole('by proxy'));
    });
    const proxied = { lookup: () => Promise.reject(new Error('never asked')) };
    using caller = createCaller(1, proxied);
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    expect(await caller.text({ baseUrl: 'http://far.example/v1', proxyUrl })).toBe('by proxy');
    expect(line).toBe('POST http://far.example/v1/chat HTTP/1.1');
    expect(await caller.call({ baseUrl: 'http://169.254.1.1', proxyUrl })).toEqual(FORBIDDEN);
  });
});

describe('the resolver', () => {
  /** Answers with what `answers` says next; `undefined` is a failure. */
  function scripted(answers: (readonly string[] | undefined)[]) {
    let nowMs = 1_000;
    let asked = 0;
    const resolver = createResolver({
      monotonic: () => nowMs,
      lookup: async () => {
        asked += 1;
        const answer = answers.shift();
        if (answer === undefined) throw new Error('no answer');
        return answer;
      },
    });
    return {
      ask: () => resolver.resolve('a.example', false),
      forget: () => resolver.forget('a.example'),
      pass: (ms: number) => {
        nowMs += ms;
      },
      asked: () => asked,
    };
  }

  test('asks once for all who wait, and keeps the answer for 30 s', async () => {
    const names = scripted([['10.0.0.1'], ['10.0.0.2']]);
    const both = await Promise.all([names.ask(), names.ask()]);
    expect(both).toEqual([['10.0.0.1'], ['10.0.0.1']]);
    names.pass(29_999);
    expect(await names.ask()).toEqual(['10.0.0.1']);
    expect(names.asked()).toBe(1);
    names.pass(1);
    expect(await names.ask()).toEqual(['10.0.0.2']);
  });

  test('keeps an old answer while no new one comes', async () => {
    const names = scripted([['10.0.0.1'], undefined, [], ['10.0.0.3']]);
    await names.ask();
    for (let index = 0; index < 2; index += 1) {
      names.pass(60_000);
      expect(await names.ask()).toEqual(['10.0.0.1']);
    }
    expect(await names.ask()).toEqual(['10.0.0.3']);
  });

  test('resolves again where no address answered', async () => {
    const names = scripted([['10.0.0.1'], ['10.0.0.2']]);
    await names.ask();
    names.forget();
    expect(await names.ask()).toEqual(['10.0.0.2']);
  });

  test('a failure is not kept', async () => {
    const names = scripted([undefined, ['10.0.0.1']]);
    expect(await names.ask()).toMatchObject({ class: 'unreachable' });
    expect(await names.ask()).toEqual(['10.0.0.1']);
  });

  test('leaves out addresses that it must not give, and refuses where none is left', async () => {
    const names = scripted([['fe80::1', '10.0.0.1'], ['fe80::1']]);
    expect(await names.ask()).toEqual(['10.0.0.1']);
    names.pass(60_000);
    expect(await names.ask()).toEqual(FORBIDDEN);
  });
});
