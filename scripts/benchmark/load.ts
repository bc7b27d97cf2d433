// Generates load on one URL: a fixed number of connections, each of which sends its next request
// after the last response. Uses wrk where it is installed, else raw sockets in a separate process
// that can be pinned to a core. Either must cost less than anything that is measured.

import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Load = {
  readonly url: string;
  /** Absent: a GET. */
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /** The status of every answer that is no error. */
  readonly status: number;
};

export type Measured = {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Answers of another status, and connections that broke. */
  readonly errors: number;
};

/** Also says what CPU time the load itself took. */
export async function runLoad(
  load: Load,
  prefix: readonly string[],
): Promise<Measured & { readonly cpuUs: number }> {
  const script = join(tmpdir(), `tollgate-load-${process.pid}.lua`);
  const command =
    Bun.which('wrk') === null
      ? [process.execPath, import.meta.path]
      : ['wrk', '-t1', `-c${load.connections}`, `-d${load.seconds}s`, '-s', script, load.url];
  await Bun.write(script, wrkScript(load));
  // An argument may have 128 KiB, which a long prompt exceeds.
  const stdin = new Blob([JSON.stringify(load)]);
  const child = Bun.spawn([...prefix, ...command], { stdin, stdout: 'pipe', stderr: 'inherit' });
  const output = await child.stdout.text();
  await child.exited;
  await rm(script);
  const result = /^RESULT (.*)$/m.exec(output)?.[1];
  if (result === undefined) throw new Error(`the load generator printed no result: ${output}`);
  return { ...JSON.parse(result), cpuUs: Number(child.resourceUsage()?.cpuTime.total ?? 0) };
}

function wrkScript({ body, headers, status }: Load): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  const post = body === undefined ? '' : `wrk.method = "POST"\nwrk.body = [==[${body}]==]`;
  // An answer of 300 and more is an error to wrk; one that is expected to be refused is none.
  const statusErrors = status < 300 ? 'e.status' : 'summary.requests - e.status';
  return `${post}
${lines.join('\n')}
function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%f,"p50Us":%d,"p99Us":%d,"errors":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.timeout + ${statusErrors}))
end
`;
}

const HEAD_END = '\r\n\r\n';
const CHUNKED_END = '0\r\n\r\n';

type Connection = {
  sentAt: number;
  /** Bytes of the request that the socket has taken. */
  sent: number;
  received: number;
  /** Up to its end, as far as it has come. */
  head: string;
  /** Of the whole answer; none where it is chunked. */
  expected: number;
  good: boolean;
  /** The last bytes, which may have come in several reads. */
  tail: string;
};

type OpenLoad = {
  readonly latenciesUs: number[];
  readonly errors: () => number;
  readonly close: () => void;
};

/** Connects and sends; with `once` each connection asks a single time and stays open. */
export async function openLoad(load: Omit<Load, 'seconds'>, once = false): Promise<OpenLoad> {
  const url = new URL(load.url);
  const body = Buffer.from(load.body ?? '');
  const all = { ...load.headers, host: url.host, 'content-length': String(body.length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const method = load.body === undefined ? 'GET' : 'POST';
  const head = `${method} ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const request = Buffer.concat([Buffer.from(head), body]);
  const status = String(load.status);

  const latenciesUs: number[] = [];
  const sockets: Bun.Socket<Connection>[] = [];
  let errors = 0;
  let closing = false;

  function send(socket: Bun.Socket<Connection>): void {
    socket.data = { sentAt: performance.now(), sent: 0, received: 0, ...NO_HEAD };
    write(socket);
  }
  function write(socket: Bun.Socket<Connection>): void {
    const { sent } = socket.data;
    if (sent < request.length) socket.data.sent += socket.write(request.subarray(sent));
  }
  for (let index = 0; index < load.connections; index += 1) {
    const socket = await Bun.connect<Connection>({
      hostname: url.hostname,
      port: Number(url.port),
      socket: {
        open: send,
        drain: write,
        data: (from, bytes) => {
          const connection = from.data;
          if (!isWhole(connection, bytes, status) || closing) return;
          latenciesUs.push((performance.now() - connection.sentAt) * 1_000);
          if (!connection.good) errors += 1;
          if (!once) send(from);
        },
        close: () => {
          if (!closing) errors += 1;
        },
      },
    });
    sockets.push(socket);
  }
  return {
    latenciesUs,
    errors: () => errors,
    close: () => {
      closing = true;
      for (const socket of sockets) socket.end();
    },
  };
}

const NO_HEAD = { head: '', expected: 0, good: false, tail: '' };

/** The head of an answer may come in several reads. */
function isWhole(connection: Connection, bytes: Buffer, status: string): boolean {
  connection.received += bytes.length;
  if (!connection.head.includes(HEAD_END)) {
    connection.head += bytes.toString('latin1');
    const headEnd = connection.head.indexOf(HEAD_END);
    if (headEnd < 0) return false;
    const head = connection.head.slice(0, headEnd + HEAD_END.length);
    const length = /content-length: *(\d+)/i.exec(head)?.[1];
    connection.head = head;
    connection.expected = length === undefined ? 0 : head.length + Number(length);
    connection.good = head.startsWith(status, 'HTTP/1.1 '.length);
  }
  if (connection.expected > 0) return connection.received >= connection.expected;
  const last = bytes.toString('latin1', Math.max(0, bytes.length - CHUNKED_END.length));
  connection.tail = (connection.tail + last).slice(-CHUNKED_END.length);
  return connection.tail === CHUNKED_END;
}

async function measure(load: Load): Promise<Measured> {
  const startedAt = performance.now();
  const open = await openLoad(load);
  await Bun.sleep(load.seconds * 1_000 - (performance.now() - startedAt));
  const seconds = (performance.now() - startedAt) / 1_000;
  open.close();
  const sorted = Float64Array.from(open.latenciesUs).sort();
  const percentile = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
  return {
    ...{ requests: sorted.length, seconds, errors: open.errors() },
    ...{ p50Us: percentile(0.5), p99Us: percentile(0.99) },
  };
}

if (import.meta.main) {
  const measured = await measure(await Bun.stdin.json());
  process.stdout.write(`RESULT ${JSON.stringify(measured)}\n`);
  process.exit(0);
}
