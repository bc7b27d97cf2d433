// A TCP proxy between a gateway and a server that it needs (PostgreSQL, Redis, an upstream). A test
// selects faults while the proxy runs; it applies them in order and counts them.

import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';
import { anyBytes, postgresReply, type ReplyLength, redisReply } from './replies.ts';

/**
 * none       everything passes
 * latency    every byte comes so many milliseconds late, in both directions
 * stall      nothing passes until the next fault is set; then all of it does, as after a partition
 * refuse     open connections are reset, new ones too
 * reset      instead of a reply the connection is reset
 * drop       a reply is missing, later ones pass
 * duplicate  a reply comes twice
 * cut        half of what has come of a reply, then the end of the connection
 *
 * The last four hit as many replies as they say, one by default; then everything passes.
 */
export type Fault =
  | { readonly kind: 'none' | 'stall' | 'refuse' }
  | { readonly kind: 'latency'; readonly ms: number }
  | { readonly kind: ReplyFault; readonly replies?: number };

export type ReplyFault = 'reset' | 'drop' | 'duplicate' | 'cut';

export type FaultCounts = {
  readonly connections: number;
  /** Now. */
  readonly open: number;
  readonly refused: number;
  readonly replies: number;
  /** How many replies each kind of fault hit. */
  readonly hits: Readonly<Record<ReplyFault, number>>;
};

export type FaultProxy = {
  readonly port: number;
  /** `url` with this proxy as its host and port. */
  readonly through: (url: string) => string;
  readonly set: (fault: Fault) => void;
  readonly clear: () => void;
  readonly counts: () => FaultCounts;
  readonly close: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** What a reply is: bytes that came together, or what the server's protocol calls one. */
export type Protocol = 'bytes' | 'postgres' | 'redis';

const REPLY_LENGTH: Readonly<Record<Protocol, ReplyLength>> = {
  bytes: anyBytes,
  postgres: postgresReply,
  redis: redisReply,
};

/** Starts a proxy before `target`, such as `{ port: 5432 }`. */
export async function startFaultProxy(
  target: { readonly host?: string; readonly port: number },
  protocol: Protocol = 'bytes',
): Promise<FaultProxy> {
  const faults = createFaults();
  const lanes = new Set<Lane>();
  const sockets = new Set<Socket>();
  let [connections, refused] = [0, 0];

  function set(fault: Fault): void {
    faults.set(fault);
    if (fault.kind === 'refuse') for (const socket of sockets) socket.resetAndDestroy();
    for (const lane of lanes) lane.pump();
  }

  function join(client: Socket): void {
    connections += 1;
    if (faults.current().kind === 'refuse') {
      refused += 1;
      client.resetAndDestroy();
      return;
    }
    const server = connect({ host: target.host ?? '127.0.0.1', ...target, allowHalfOpen: true });
    pipe(client, server, (bytes) => write(client, server, bytes));
    pipe(server, client, createAnswering(client, server, faults, REPLY_LENGTH[protocol]));
  }

  function pipe(from: Socket, to: Socket, take: (bytes: Buffer) => void): void {
    const lane = createLane(faults);
    lanes.add(lane);
    sockets.add(from);
    from.on('data', (data) => {
      const bytes = Buffer.from(data);
      lane.push(() => take(bytes));
    });
    from.on('end', () => lane.push(() => to.end()));
    from.on('error', () => lane.push(() => to.resetAndDestroy()));
    from.on('close', () => {
      sockets.delete(from);
      // Nothing comes after this, and it waits with the rest while all is stalled.
      lane.push(() => {
        to.destroy();
        lanes.delete(lane);
      });
    });
  }

  const listener = createServer({ allowHalfOpen: true, noDelay: true }, join);
  async function close(): Promise<void> {
    set({ kind: 'refuse' });
    await new Promise<void>((resolve) => listener.close(() => resolve()));
  }
  const port = await listen(listener);
  return {
    port,
    through(url) {
      const changed = new URL(url);
      changed.host = `127.0.0.1:${port}`;
      return changed.href;
    },
    set,
    clear: () => set({ kind: 'none' }),
    counts: () => ({ connections, open: sockets.size / 2, refused, ...faults.counts() }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What is wrong now, and what was. */
type Faults = {
  readonly current: () => Fault;
  readonly set: (fault: Fault) => void;
  /** The fault that hits the reply that begins, counted; `none` where it passes. */
  readonly hit: () => ReplyFault | 'none';
  readonly counts: () => Pick<FaultCounts, 'replies' | 'hits'>;
};

function createFaults(): Faults {
  const hits = { reset: 0, drop: 0, duplicate: 0, cut: 0 };
  let replies = 0;
  let fault: Fault = { kind: 'none' };
  let left = 0;
  return {
    current: () => fault,
    set(next) {
      fault = next;
      left = 'replies' in next ? (next.replies ?? 1) : 1;
    },
    hit() {
      replies += 1;
      const { kind } = fault;
      if (kind === 'none' || kind === 'stall' || kind === 'refuse' || kind === 'latency') {
        return 'none';
      }
      hits[kind] += 1;
      left -= 1;
      if (left === 0) fault = { kind: 'none' };
      return kind;
    },
    counts: () => ({ replies, hits: { ...hits } }),
  };
}

/** One direction of a connection: what is on its way there, in order, late or held back. */
type Lane = { readonly push: (take: () => void) => void; readonly pump: () => void };

function createLane({ current }: Faults): Lane {
  const steps: { readonly dueMs: number; readonly take: () => void }[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  function pump(): void {
    clearTimeout(timer);
    while (current().kind !== 'stall') {
      const [first] = steps;
      if (first === undefined) return;
      const waitMs = first.dueMs - performance.now();
      if (waitMs > 0) {
        timer = setTimeout(pump, waitMs);
        return;
      }
      steps.shift();
      first.take();
    }
  }
  return {
    pump,
    push(take) {
      const fault = current();
      const lateMs = fault.kind === 'latency' ? fault.ms : 0;
      steps.push({ dueMs: performance.now() + lateMs, take });
      pump();
    },
  };
}

/** Passes on the server's bytes as they come, but for a reply that a fault hits. */
function createAnswering(
  client: Socket,
  server: Socket,
  { hit }: Faults,
  replyLength: ReplyLength,
): (bytes: Buffer) => void {
  let begun: Buffer = Buffer.alloc(0);
  let kind: ReplyFault | 'none' = 'none';
  return (bytes) => {
    for (let left = bytes; left.length > 0 && !client.destroyed; ) {
      if (begun.length === 0) kind = hit();
      const whole = Buffer.concat([begun, left]);
      const length = replyLength(whole);
      const part = left.subarray(0, length === undefined ? left.length : length - begun.length);
      left = left.subarray(part.length);
      begun = length === undefined ? whole : Buffer.alloc(0);
      answer(kind, part, client, server);
      if (kind === 'duplicate' && length !== undefined) {
        write(server, client, whole.subarray(0, length));
      }
    }
  };
}

function answer(kind: ReplyFault | 'none', part: Buffer, client: Socket, server: Socket): void {
  switch (kind) {
    case 'none':
    case 'duplicate':
      write(server, client, part);
      return;
    case 'drop':
      return;
    case 'reset':
      client.resetAndDestroy();
      server.resetAndDestroy();
      return;
    case 'cut':
      client.end(part.subarray(0, Math.floor(part.length / 2)));
      server.resetAndDestroy();
  }
}

/** Waits with reading where the other side does not take what there is. */
function write(from: Socket, to: Socket, bytes: Buffer): void {
  if (to.destroyed || to.write(bytes) || from.isPaused()) return;
  from.pause();
  to.once('drain', () => from.resume());
}
