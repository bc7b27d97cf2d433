import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signInSecret } from '../../../src/identity/sign-in/secret.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';

const directory = temporaryDirectory();

function place() {
  const folder = join(directory, crypto.randomUUID());
  mkdirSync(folder);
  const file = join(folder, 'session-secret');
  const read = (sessionSecret?: string) =>
    signInSecret({
      sessionSecret,
      databaseUrl: `sqlite:${join(folder, 'tollgate.db')}`,
      randomBytes,
    });
  return { file, read };
}

describeOnEachDatabase('the session secret', () => {
  test('a secret that is set is used, and no file is made', () => {
    const { file, read } = place();
    expect(read('s'.repeat(32))).toBe(read('s'.repeat(32)));
    expect(read('s'.repeat(32))).not.toBe(read('t'.repeat(32)));
    expect(read('s'.repeat(32))).not.toContain('sss');
    expect(() => statSync(file)).toThrow('ENOENT');
  });

  test('without one, it is made once, for the owner alone, and survives a restart', () => {
    const { file, read } = place();
    const first = read();
    expect(read()).toBe(first);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/);
    expect(place().read()).not.toBe(first);
  });

  test('a file that others can read, or that holds no secret, is refused', () => {
    const open = place();
    open.read();
    chmodSync(open.file, 0o644);
    expect(open.read).toThrow('can be read by others');
    const short = place();
    writeFileSync(short.file, 'short\n', { mode: 0o600 });
    expect(short.read).toThrow('is too short');
  });
});
