// The upstreams of a simulation: they answer in the chat dialect, in virtual time, and keep their
// own record. An answer is drawn when it is requested.

import type { UpstreamFailure } from '../../src/core/failure.ts';
import type { ByteReader, UpstreamAnswer, UpstreamClient } from '../../src/upstream/transport.ts';
import { UNCONNECTED } from '../../src/upstream/transport.ts';
import type { FaultCounter } from './faults.ts';
import type { World } from './world.ts';

/** One request as an upstream saw it. */
export type Served = {
  /** What the client had put into its prompt. */
  readonly marker: string;
  readonly startedAt: number;
  /** Characters of content that have left, four to a token. */
  sent: number;
  /** When its last event left: it is done then, though the connection is still to be closed. */
  doneAt: number | undefined;
  /** When the gateway stopped it, or it ended by itself. */
  endedAt: number | undefined;
  /** Whether the gateway stopped it before its answer was over. */
  stopped: boolean;
};

export type SimulatedUpstreams = {
  readonly client: UpstreamClient;
  readonly book: readonly Served[];
  /** All connections break: the gateway is gone. */
  readonly dropAll: () => void;
};

type Asked = {
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly messages: readonly { readonly content: string }[];
};

const REFUSED: UpstreamFailure = {
  class: 'unreachable',
  phase: 'connect',
  detail: 'the connection could not be made',
};
const CUT: UpstreamFailure = { class: 'cut', detail: 'the connection was cut' };
const encoder = new TextEncoder();

/** What the requests of a gateway that was killed wait for. */
export const NEVER = new Promise<never>(() => {});

export function createUpstreams(world: World, faults: FaultCounter): SimulatedUpstreams {
  const book: Served[] = [];
  const open = new Set<() => void>();
  let gatewaysGone = 0;

  return {
    book,
    dropAll() {
      gatewaysGone += 1;
      for (const drop of [...open]) drop();
    },
    client: {
      async send({ body, signal }) {
        const before = gatewaysGone;
        const asked = JSON.parse(body) as Asked;
        const marker = /#\d+#/.exec(asked.messages.at(-1)?.content ?? '')?.[0] ?? '';
        await world.sleep(world.between(0, 30));
        if (gatewaysGone > before) return NEVER;
        if (signal.aborted) {
          faults.count('client left before the connection');
          return UNCONNECTED;
        }
        if (world.chance(0.06)) {
          faults.count('upstream refuses');
          return REFUSED;
        }
        const served: Served = {
          marker,
          startedAt: world.monotonic(),
          sent: 0,
          doneAt: undefined,
          endedAt: undefined,
          stopped: false,
        };
        book.push(served);
        const broken = Promise.withResolvers<never>();
        broken.promise.catch(() => {});
        const end = (): void => {
          served.endedAt ??= world.monotonic();
          open.delete(end);
          broken.reject(new Error('the connection is closed'));
        };
        open.add(end);
        signal.addEventListener('abort', () => {
          served.stopped = served.endedAt === undefined && served.doneAt === undefined;
          end();
        });
        if (world.chance(0.06)) {
          faults.count('upstream overloaded');
          end();
          return answerOf(503, '{"error":{"message":"busy"}}', undefined);
        }
        const script = draw(world, faults, asked);
        const text = (): string => wholeAnswer(script);
        if (asked.stream !== true) {
          const whole = async (): Promise<string | UpstreamFailure> => {
            await world.sleep(script.pieces.length * script.gapMs);
            if (served.endedAt !== undefined || script.end === 'cut') {
              end();
              return CUT;
            }
            served.sent = script.pieces.join('').length;
            end();
            return text();
          };
          return { status: 200, isJson: true, text: whole, reader: () => undefined };
        }
        const reader = stream(world, script, served, end, broken.promise);
        return answerOf(200, '', reader);
      },
    },
  };
}

type Script = {
  readonly pieces: readonly string[];
  readonly gapMs: number;
  readonly end: 'stop' | 'length' | 'cut' | 'stall';
  /** As JSON; absent where none is reported. */
  readonly usage: string | undefined;
};

function draw(world: World, faults: FaultCounter, asked: Asked): Script {
  const wanted = world.chance(0.25) ? world.between(4_000, 12_000) : world.between(1, 400);
  const bound = asked.max_tokens ?? Number.POSITIVE_INFINITY;
  const ignores = world.chance(0.05);
  if (ignores && wanted > bound) faults.count('upstream ignores the bound');
  const tokens = ignores ? wanted : Math.min(wanted, bound);
  const pieces: string[] = [];
  for (let left = tokens; left > 0; ) {
    const size = Math.min(left, world.between(1, tokens > 1_000 ? 300 : 20));
    pieces.push('abcd'.repeat(size));
    left -= size;
  }
  const end = world.chance(0.08)
    ? 'cut'
    : world.chance(0.04)
      ? 'stall'
      : tokens < wanted
        ? 'length'
        : 'stop';
  if (end === 'cut') faults.count('upstream cut');
  if (end === 'stall') faults.count('upstream stalls');
  const prompt = Math.ceil((asked.messages.at(-1)?.content.length ?? 0) / 4);
  return {
    pieces,
    gapMs: world.between(1, 40),
    end,
    usage: drawUsage(world, faults, prompt, tokens),
  };
}

function drawUsage(
  world: World,
  faults: FaultCounter,
  prompt: number,
  output: number,
): string | undefined {
  const usageJson = (input: unknown, produced: unknown): string =>
    JSON.stringify({ prompt_tokens: input, completion_tokens: produced });
  if (world.chance(0.1)) {
    faults.count('upstream reports no usage');
    return undefined;
  }
  if (world.chance(0.05)) {
    faults.count('upstream reports zeros');
    return usageJson(0, 0);
  }
  if (world.chance(0.1)) {
    faults.count('upstream reports nonsense');
    return world.pick([
      usageJson(-1, output),
      usageJson(prompt, 1e18),
      usageJson('7', 1.5),
      usageJson(prompt, -5),
    ]);
  }
  return usageJson(world.chance(0.1) ? prompt * 3 : prompt, output);
}

function wholeAnswer({ pieces, end, usage }: Script): string {
  const finish = end === 'length' ? 'length' : 'stop';
  const choice = {
    index: 0,
    message: { role: 'assistant', content: pieces.join('') },
    finish_reason: finish,
  };
  return `{"choices":[${JSON.stringify(choice)}]${usage === undefined ? '' : `,"usage":${usage}`}}`;
}

function stream(
  world: World,
  script: Script,
  served: Served,
  end: () => void,
  /** Rejects when the connection is gone. */
  broken: Promise<never>,
): ByteReader {
  const left = [...script.pieces];
  let state: 'content' | 'finish' | 'done' = 'content';
  const event = (json: string): Uint8Array => encoder.encode(`data: ${json}\n\n`);
  return {
    async read() {
      await world.sleep(script.gapMs);
      if (served.endedAt !== undefined) throw new Error('the connection is closed');
      const piece = left.shift();
      if (piece !== undefined) {
        served.sent += piece.length;
        return {
          done: false,
          value: event(`{"choices":[{"index":0,"delta":{"content":"${piece}"}}]}`),
        };
      }
      if (script.end === 'stall') return broken;
      if (script.end === 'cut' || state === 'done') {
        end();
        return { done: true };
      }
      if (state === 'content') {
        state = 'finish';
        return {
          done: false,
          value: event(`{"choices":[{"index":0,"delta":{},"finish_reason":"${script.end}"}]}`),
        };
      }
      state = 'done';
      served.doneAt = world.monotonic();
      const usage =
        script.usage === undefined ? '' : `data: {"choices":[],"usage":${script.usage}}\n\n`;
      return { done: false, value: encoder.encode(`${usage}data: [DONE]\n\n`) };
    },
    async cancel() {
      end();
    },
  };
}

function answerOf(status: number, text: string, reader: ByteReader | undefined): UpstreamAnswer {
  return { status, isJson: reader === undefined, text: async () => text, reader: () => reader };
}
