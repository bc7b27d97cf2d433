// A PostgreSQL server of the tests ends with the process that started it.

import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import postgres from 'postgres';
import { describeWithServices } from './services.ts';
import { waitUntil } from './upstream.ts';

describeWithServices('PostgreSQL', ['PostgreSQL'], () => {
  test('is gone with its directory, also when its parent was killed', async () => {
    const owner = Bun.spawn(
      [
        process.execPath,
        '-e',
        `const { startPostgres } = await import(${JSON.stringify(`${import.meta.dir}/services.ts`)});
         const server = await startPostgres();
         process.stdout.write(server.directory + ' ' + server.url + '\\n');
         setInterval(() => {}, 1000);`,
      ],
      { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
    );
    const { value } = await owner.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    const [directory = '', url = ''] = (value ?? '').trim().split(' ');
    expect(await ask(url, 'select 1 as x')).toEqual([{ x: 1 }]);
    owner.kill('SIGKILL');
    await waitUntil(() => !existsSync(directory));
    await expect(ask(url, 'select 1')).rejects.toThrow();
  }, 30_000);
});

async function ask(url: string, text: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} });
  try {
    return [...(await sql.unsafe(text))];
  } finally {
    await sql.end({ timeout: 1 });
  }
}
