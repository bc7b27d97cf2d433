// Drives Firefox over WebDriver BiDi, a WebSocket that the browser opens itself: enough to open pages,
// run expressions in them, and collect what the browser complains about.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_MS = 60_000;
const PROGRAMS = [process.env['FIREFOX_PATH'], 'firefox-esr', 'firefox'] as const;

/** The path of a Firefox of this machine; scripts/install-browser looks for the same. */
export function findFirefox(): string | undefined {
  for (const program of PROGRAMS) {
    const path = program === undefined ? null : Bun.which(program);
    if (path !== null) return path;
  }
  return undefined;
}

export type Firefox = {
  /** Opens an address and waits until it has loaded. */
  readonly goto: (url: string) => Promise<void>;
  /** The value of an expression in the page, as JSON; promises are awaited. */
  readonly evaluate: <Value>(expression: string) => Promise<Value>;
  /** Errors in the console and uncaught ones since the last call. */
  readonly takeComplaints: () => readonly string[];
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly params?: { readonly level?: string; readonly text?: string | null };
  readonly error?: string;
  readonly message?: string;
};

export async function startFirefox(path: string): Promise<Firefox> {
  const profile = await mkdtemp(join(tmpdir(), 'tollgate-firefox-'));
  const child = Bun.spawn(
    [path, '--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe', env: { ...process.env, HOME: profile } },
  );
  const socket = await connect(`${await addressOf(child.stderr)}/session`);
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  let complaints: string[] = [];
  let count = 0;

  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.method === 'log.entryAdded' && message.params?.level === 'error') {
      complaints.push(message.params.text ?? '');
    }
    const call = message.id === undefined ? undefined : waiting.get(message.id);
    if (message.error === undefined) call?.resolve(message.result ?? {});
    else call?.reject(new Error(`${message.error}: ${message.message}`));
  });

  function send(method: string, params: object): Promise<Record<string, unknown>> {
    count += 1;
    const answer = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(count, answer);
    socket.send(JSON.stringify({ id: count, method, params }));
    return answer.promise;
  }

  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  const { context } = await send('browsingContext.create', { type: 'tab' });
  return {
    async goto(url) {
      await send('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    async evaluate<Value>(expression: string) {
      const answer = await send('script.evaluate', {
        expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
        target: { context },
        awaitPromise: true,
      });
      const { result, exceptionDetails } = answer as {
        readonly result?: { readonly value: string };
        readonly exceptionDetails?: { readonly text: string };
      };
      if (result === undefined) throw new Error(exceptionDetails?.text);
      return JSON.parse(result.value) as Value;
    },
    takeComplaints() {
      const taken = complaints;
      complaints = [];
      return taken;
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      child.kill();
      await child.exited;
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** Firefox prints where it listens. */
async function addressOf(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = '';
  const deadline = performance.now() + START_MS;
  for await (const bytes of output.values({ preventCancel: true })) {
    text += new TextDecoder().decode(bytes);
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(text) ?? [];
    if (address !== undefined) return address;
    if (performance.now() > deadline) break;
  }
  throw new Error(`Firefox did not start: ${text}`);
}

async function connect(address: string): Promise<WebSocket> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('Firefox refused the connection.')));
  });
  return socket;
}
