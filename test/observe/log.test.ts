// The operator's log, from a separate process: what its standard error carries, line by line.

import { expect, test } from 'bun:test';
import { join } from 'node:path';

const LOG = join(import.meta.dir, '../../src/observe/log.ts');

/** Starts a process that has `log`, a log of that level; its standard error is a pipe. */
function start(level: string, script: string) {
  const source = `import { createLog } from ${JSON.stringify(LOG)};
    const log = createLog(${JSON.stringify(level)});
    ${script}`;
  return Bun.spawn([process.execPath, '-e', source], { stdout: 'pipe', stderr: 'pipe' });
}

async function linesOf(level: string, script: string): Promise<Record<string, unknown>[]> {
  const text = await start(level, script).stderr.text();
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test('each line is one JSON object with level, time and message', async () => {
  const lines = await linesOf(
    'info',
    `log.info('one\\n"two"');
     log.warn('three');
     log.error('four', new TypeError('five'));
     log.error('six', 'seven');
     await log.close();`,
  );
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const stack = expect.stringMatching(/^at /);
  expect(lines).toEqual([
    { level: 'info', time, msg: 'one\n"two"' },
    { level: 'warn', time, msg: 'three' },
    { level: 'error', time, error: { name: 'TypeError', stack }, msg: 'four' },
    { level: 'error', time, error: { name: 'string' }, msg: 'six' },
  ]);
});

test('a line that the operator must see is written at every level', async () => {
  for (const level of ['warn', 'error', 'silent']) {
    const script = `log.info('one'); log.always('two'); await log.close();`;
    expect((await linesOf(level, script)).map(({ msg }) => msg)).toEqual(['two']);
  }
});

test('requests are logged in their order among all other lines', async () => {
  const lines = await linesOf(
    'info',
    `const request = (requestId) => log.request({
       ...{ requestId, route: 'messages', format: 'messages', status: 200, durationMs: 1 },
     });
     for (let n = 0; n < 100; n += 1) request('req_' + n);
     log.warn('between');
     request('req_last');
     await log.close();`,
  );
  const ids = Array.from({ length: 100 }, (_, n) => `req_${n}`);
  expect(lines.map(({ requestId, msg }) => requestId ?? msg)).toEqual([
    ...ids,
    'between',
    'req_last',
  ]);
});

test.each([
  ['debug', ['info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
  ['silent', []],
])('at level %s, %p are shown', async (level, shown) => {
  const script = `log.info('a'); log.warn('b'); log.error('c'); await log.close();`;
  const lines = await linesOf(level, script);
  expect(lines.map((line) => line['level'])).toEqual(shown);
});

test('a line leaves by itself soon, without a flush', async () => {
  const child = start('info', `log.info('soon'); setInterval(() => {}, 60_000);`);
  const { value } = await child.stderr.getReader().read();
  expect(new TextDecoder().decode(value)).toContain('"msg":"soon"');
  child.kill();
  await child.exited;
});

test('a reader that comes late gets every line, in order, and delayed no writer', async () => {
  const child = start(
    'info',
    `const more = (n) => {
       for (let i = 0; i < 100; i += 1) log.info(String(n * 100 + i));
       if (n < 99) setImmediate(more, n + 1);
       else process.stdout.write('written');
     };
     more(0);
     // It must still run when its last line is read.
     setInterval(() => {}, 60_000);`,
  );
  // A pipe holds a tenth of these lines, and they are all logged before one is read.
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe('written');
  const seen: string[] = [];
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of child.stderr) {
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) seen.push(JSON.parse(line).msg);
    if (seen.length === 10_000) break;
  }
  child.kill();
  await child.exited;
  expect(seen).toEqual(Array.from({ length: 10_000 }, (_, index) => String(index)));
});
