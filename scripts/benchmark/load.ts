// Puts load on one URL: so many connections, each sending its next request when the last answer has
// come. With wrk where it is installed, else with raw sockets of our own (run as a process, so that
// it can be pinned). Called by scripts/benchmark/run.ts.

import { join } from 'node:path';

export type Load = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
};

export type Measured = {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Answers other than 2xx, and connections that broke. */
  readonly errors: number;
};

/** Runs the load, pinned by `prefix`; `folder` takes the script that wrk reads. */
export async function runLoad(
  load: Load,
  prefix: readonly string[],
  folder: string,
): Promise<Measured> {
  const command = Bun.which('wrk') === null ? ownCommand(load) : await wrkCommand(load, folder);
  const child = Bun.spawn([...prefix, ...command], { stdout: 'pipe', stderr: 'inherit' });
  const output = await child.stdout.text();
  const result = /^RESULT (.*)$/m.exec(output)?.[1];
  if (result === undefined) throw new Error(`the load generator said: ${output}`);
  return JSON.parse(result);
}

async function wrkCommand(load: Load, folder: string): Promise<string[]> {
  const headers = Object.entries(load.headers)
    .map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}\n`)
    .join('');
  const script = `wrk.method = "POST"
wrk.body = [==[${load.body}]==]
${headers}
function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%f,"p50Us":%d,"p99Us":%d,"errors":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;
  const path = join(folder, 'load.lua');
  await Bun.write(path, script);
  const { connections, seconds } = load;
  return ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', path, load.url];
}

function ownCommand(load: Load): string[] {
  return [process.execPath, import.meta.path, JSON.stringify(load)];
}

const CHUNKED_END = '0\r\n\r\n';

type Connection = { text: string; sentAt: number };

/** The same measurement with raw sockets. Answers are read as Latin-1: only lengths matter. */
async function measure(load: Load): Promise<Measured> {
  const url = new URL(load.url);
  const body = Buffer.from(load.body);
  const all = { ...load.headers, host: url.host, 'content-length': String(body.length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const request = Buffer.concat([Buffer.from(head), body]);

  const latencies: number[] = [];
  let errors = 0;
  let stopping = false;
  const sockets: { end: () => void }[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < load.connections; index += 1) {
    const socket = await Bun.connect<Connection>({
      hostname: url.hostname,
      port: Number(url.port),
      socket: {
        open: (opened) => {
          opened.data = { text: '', sentAt: performance.now() };
          opened.write(request);
        },
        data: (opened, bytes) => {
          const connection = opened.data;
          connection.text += bytes.toString('latin1');
          if (stopping || !isComplete(connection.text)) return;
          latencies.push((performance.now() - connection.sentAt) * 1_000);
          if (!connection.text.startsWith('HTTP/1.1 2')) errors += 1;
          connection.text = '';
          connection.sentAt = performance.now();
          opened.write(request);
        },
        close: () => {
          if (!stopping) errors += 1;
        },
      },
    });
    sockets.push(socket);
  }
  await Bun.sleep(load.seconds * 1_000);
  stopping = true;
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const socket of sockets) socket.end();
  latencies.sort((a, b) => a - b);
  const percentile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    requests: latencies.length,
    seconds,
    p50Us: Math.round(percentile(0.5)),
    p99Us: Math.round(percentile(0.99)),
    errors,
  };
}

function isComplete(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return false;
  const length = /^content-length: *(\d+)/im.exec(text.slice(0, headEnd))?.[1];
  if (length === undefined) return text.endsWith(CHUNKED_END);
  return text.length >= headEnd + 4 + Number(length);
}

if (import.meta.main) {
  const measured = await measure(JSON.parse(process.argv[2] ?? '{}'));
  process.stdout.write(`RESULT ${JSON.stringify(measured)}\n`);
  process.exit(0);
}
