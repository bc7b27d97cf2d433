// L4, the lower bound: the minimum that a gateway with durable money does for a whole answer. It
// authenticates the key, checks the body, reserves and settles on disk in a ledger thread, calls
// the upstream over pooled raw sockets, counts tokens, logs, and sends the same headers. It has no
// product features and handles no failures. Started as a process with the upstream's URL; prints
// its address.

import { closeSync, openSync, write } from 'node:fs';
import { Elysia } from 'elysia';
import { COMMAND, KIND } from './ledger.ts';

const ACCOUNT = 7;
const HELD = 1_500_000;
const MICRO = 10_000;
const LOG_BYTES = 65_536;

type Body = {
  readonly model: string;
  readonly max_tokens?: number;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
};

type Answer = {
  readonly choices: readonly [{ readonly message: { readonly content: string } }];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
};

/** Sends commands in batches; the next batch leaves when the last one is on disk. */
class LedgerClient {
  private waiting: { readonly numbers: Float64Array; readonly resolve: () => void }[] = [];
  private sent: typeof this.waiting = [];
  private scheduled = false;
  private readonly worker: Worker;

  constructor() {
    this.worker = new Worker(new URL('./ledger.ts', import.meta.url).href);
    this.worker.onmessage = () => {
      const done = this.sent;
      this.sent = [];
      for (const { resolve } of done) resolve();
      this.flush();
    };
  }

  run(numbers: Float64Array): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ numbers, resolve });
      if (this.scheduled || this.sent.length > 0) return;
      this.scheduled = true;
      setImmediate(() => this.flush());
    });
  }

  private flush(): void {
    this.scheduled = false;
    if (this.waiting.length === 0) return;
    this.sent = this.waiting;
    this.waiting = [];
    const batch = new Float64Array(this.sent.length * COMMAND.length);
    this.sent.forEach(({ numbers }, index) => {
      batch.set(numbers, index * COMMAND.length);
    });
    this.worker.postMessage(batch, [batch.buffer]);
  }
}

/** One connection to the upstream, with one request at a time. */
class Connection {
  private socket: Bun.Socket<Connection> | undefined;
  private received: Buffer | undefined;
  private resolve: (body: string) => void = () => {};

  private readonly pool: Connection[];

  constructor(pool: Connection[]) {
    this.pool = pool;
  }

  async ask(url: URL, request: string): Promise<string> {
    this.socket ??= await Bun.connect<Connection>({
      hostname: url.hostname,
      port: Number(url.port),
      data: this,
      socket: { data: (_, bytes) => this.read(bytes) },
    });
    return new Promise((resolve) => {
      this.resolve = resolve;
      this.socket?.write(request);
    });
  }

  private read(bytes: Buffer): void {
    const all = this.received === undefined ? bytes : Buffer.concat([this.received, bytes]);
    const headEnd = all.indexOf('\r\n\r\n');
    const head = all.toString('latin1', 0, headEnd);
    const start = headEnd + 4;
    const end = start + Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (headEnd < 0 || all.length < end) {
      this.received = Buffer.from(all);
      return;
    }
    this.received = undefined;
    this.pool.push(this);
    this.resolve(all.toString('utf8', start, end));
  }
}

function isBody(body: unknown): body is Body {
  const { model, messages } = body as Body;
  return (
    typeof model === 'string' &&
    Array.isArray(messages) &&
    messages.every(({ role, content }) => typeof role === 'string' && typeof content === 'string')
  );
}

function main(upstream: URL): void {
  const ledger = new LedgerClient();
  const pool: Connection[] = [];
  const keys = new Map<string, string>();
  const metrics = { requests: 0, outputTokens: 0, buckets: new Float64Array(16) };
  const log = openSync('/dev/null', 'w');
  process.on('exit', () => closeSync(log));
  let lines = '';
  let lastRequest = Date.now() * 1_000;

  function command(kind: number, request: number, input: number, output: number, debited: number) {
    const numbers = new Float64Array(COMMAND.length);
    numbers[COMMAND.kind] = kind;
    numbers[COMMAND.request] = request;
    numbers[COMMAND.account] = ACCOUNT;
    numbers[COMMAND.held] = HELD;
    numbers[COMMAND.input] = input;
    numbers[COMMAND.output] = output;
    numbers[COMMAND.startedMs] = Math.floor(request / 1_000);
    numbers[COMMAND.debited] = debited;
    return ledger.run(numbers);
  }

  async function generate(request: Request): Promise<Response> {
    const startedAt = performance.now();
    const key = request.headers.get('authorization') ?? '';
    if (!keys.has(key)) keys.set(key, new Bun.CryptoHasher('sha256').update(key).digest('hex'));
    const body: unknown = JSON.parse(await request.text());
    if (!isBody(body)) return new Response('bad request', { status: 400 });
    const prompt = body.messages.reduce((sum, { content }) => sum + content.length, 0) >> 2;
    lastRequest += 1;
    const id = `req_0Vbh${lastRequest.toString(36)}abcdefgh`;
    const number = lastRequest;
    await command(KIND.hold, number, prompt, body.max_tokens ?? 0, 0);

    const { messages, max_tokens, stream } = body;
    const sent = JSON.stringify({ model: body.model, messages, max_tokens, stream });
    const connection = pool.pop() ?? new Connection(pool);
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${upstream.host}\r\nContent-Type: application/json\r\nAuthorization: Bearer bench\r\nContent-Length: ${Buffer.byteLength(sent)}\r\n\r\n`;
    const answer: Answer = JSON.parse(await connection.ask(upstream, head + sent));
    const { prompt_tokens: input, completion_tokens: output } = answer.usage;
    const debited = input + 4 * output;
    await command(KIND.settle, number, input, output, debited * MICRO);

    metrics.requests += 1;
    metrics.outputTokens += output;
    metrics.buckets[3] = (metrics.buckets[3] ?? 0) + 1;
    const durationMs = (performance.now() - startedAt).toFixed(2);
    lines += `{"level":"info","time":"2026-11-22T11:00:00.000Z","requestId":"${id}","route":"chat_completions","format":"chat","status":200,"accountId":"acct_${ACCOUNT}","keyId":"key_1","model":"${body.model}","stream":false,"durationMs":${durationMs},"outcome":"completed","modelServed":"${body.model}","upstream":"bench","inputTokens":${input},"outputTokens":${output},"tokensDebited":"${debited}","msg":"request"}\n`;
    if (lines.length > LOG_BYTES) {
      write(log, lines, () => {});
      lines = '';
    }
    return respond(id, body.model, answer, debited);
  }

  const app = new Elysia({ precompile: true })
    .post('/v1/chat/completions', ({ request }) => generate(request), { parse: 'none' })
    .listen({ hostname: '127.0.0.1', port: 0 });
  process.stdout.write(`listening on http://127.0.0.1:${app.server?.port}\n`);
}

function respond(id: string, model: string, answer: Answer, debited: number): Response {
  const { prompt_tokens: input, completion_tokens: output } = answer.usage;
  const { content } = answer.choices[0].message;
  const choice = { index: 0, message: { role: 'assistant', content }, logprobs: null };
  const usage = {
    ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
    ...{ prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: input },
    ...{ svc_tokens_debited: String(debited), svc_cost_usd: '0.0000219' },
  };
  const choices = [{ ...choice, finish_reason: 'stop' }];
  const completion = { id: `chatcmpl-${id}`, object: 'chat.completion', created: 1, model };
  return new Response(JSON.stringify({ ...completion, choices, usage }), {
    headers: {
      'content-type': 'application/json',
      'x-request-id': id,
      'request-id': id,
      'x-svc-model': model,
      'x-ratelimit-limit-requests': '1000',
      'x-ratelimit-remaining-requests': '999',
      'x-ratelimit-limit-tokens': '100000',
      'x-ratelimit-remaining-tokens': '99999',
      'x-ratelimit-reset-requests': '60s',
      'x-svc-tokens-debited': String(debited),
      'x-svc-balance': '123456',
    },
  });
}

if (import.meta.main) main(new URL(process.argv[2] ?? ''));
