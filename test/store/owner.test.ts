// One server a database: the lock, and its release when the process dies.

import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ownDatabase } from '../../src/store/owner.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import { runScript } from '../support/process.ts';
import { waitUntil } from '../support/upstream.ts';

const directory = temporaryDirectory();

async function newFile(): Promise<{
  readonly path: string;
  readonly url: string;
  readonly name: string;
}> {
  const name = crypto.randomUUID();
  await (await newDatabase(directory, name)).close();
  const path = join(directory, `${name}.db`);
  return { path, url: `sqlite:${path}`, name };
}

function refusal(url: string): string {
  try {
    ownDatabase(url)();
  } catch (error) {
    return String(error);
  }
  return 'taken';
}

const inUse = (path: string) =>
  `StoreError: Another tollgate serves the database ${path} already. Stop it first, or point DATABASE_URL of this one at another file.`;

function ownerScript(url: string) {
  return runScript(`
    const { ownDatabase } = await load('store/owner.ts');
    try {
      ownDatabase(${JSON.stringify(url)});
      say('taken');
      await new Promise(() => setInterval(() => {}, 1000));
    } catch (error) { say(String(error)); }`);
}

describe('owning a database', () => {
  test('is for one process at a time, however that ends', async () => {
    const { path, url } = await newFile();
    const first = ownerScript(url);
    expect(await first.line()).toBe('taken');
    expect(refusal(url)).toBe(inUse(path));
    const second = ownerScript(url);
    expect(await second.line()).toBe(inUse(path));
    first.kill();
    await waitUntil(() => refusal(url) === 'taken');
    const third = ownerScript(url);
    expect(await third.line()).toBe('taken');
    third.kill();
  });

  test('ends with its release', async () => {
    const { path, url } = await newFile();
    const release = ownDatabase(url);
    expect(refusal(url)).toBe(inUse(path));
    release();
    expect(refusal(url)).toBe('taken');
  });

  test('holds under every name of the file', async () => {
    const { path, url } = await newFile();
    const other = join(directory, 'other-name.db');
    symlinkSync(path, other);
    const release = ownDatabase(`sqlite:${other}`);
    expect(refusal(url)).toBe(inUse(path));
    release();
  });

  test('blocks no reader and no writer, and leaves one empty file', async () => {
    const { path, url, name } = await newFile();
    const release = ownDatabase(url);
    const beside = await newDatabase(directory, name);
    expect(await beside.transaction(async () => 'written')).toBe('written');
    await beside.close();
    release();
    const files = readdirSync(directory).filter((file) => file.startsWith(`${name}.db.owner`));
    expect(files).toEqual([`${name}.db.owner`]);
    expect(existsSync(path)).toBe(true);
  });

  test('says so where the side file cannot be made', async () => {
    const { url, path } = await newFile();
    // A directory in its place: root may write anywhere, so permissions tell nothing.
    await (await newDatabase(join(directory, `${path.split('/').at(-1)}.owner`), 'x')).close();
    expect(refusal(url)).toBe(
      `StoreError: The file ${path}.owner cannot be locked. Check that it and its directory can be written by this user.`,
    );
  });
});
