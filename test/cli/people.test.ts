import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/database.ts';
import { gatewayCommand } from '../support/gateway.ts';
import { runProgram } from '../support/program.ts';
import { createTollgate } from './tollgate.ts';

const directory = temporaryDirectory();

// Each command is a process.
setDefaultTimeout(30_000);

const EMAIL = 'op@example.com';

function open(environment: Record<string, string> = { PORT: '4000' }) {
  const url = `sqlite:${join(directory, `${crypto.randomUUID()}.db`)}`;
  return createTollgate(directory, { DATABASE_URL: url, ...environment });
}

describe('operator', () => {
  test('create prints a link, and there is no operator until a password is chosen', async () => {
    const { json, run } = open();
    const made = await json('operator', 'create', ' OP@example.com');
    expect(made).toEqual({
      operator: { email: EMAIL },
      token: expect.stringMatching(/^[\w-]{43}$/),
      link: `http://127.0.0.1:4001/operator/welcome?token=${made['token']}`,
    });
    expect(await json('operator', 'list')).toEqual({ object: 'list', data: [] });
    const { stdout } = await run('operator', 'create', EMAIL);
    expect(stdout).toMatch(/^op@example\.com is invited as an operator\. .* 30 minutes .*\nhttp/);
  });

  test('names the path alone where only the server knows its port, and nothing without a console', async () => {
    const { json } = open({ PORT: '0' });
    expect((await json('operator', 'create', EMAIL))['link']).toStartWith('/operator/welcome?');
    const { refusal } = open({ OPERATOR_PORT: 'off' });
    expect(await refusal('operator', 'create', EMAIL)).toEqual([1, 'no_console']);
  });

  test('takes a password from standard input alone', async () => {
    const url = `sqlite:${join(directory, 'piped.db')}`;
    const create = async (password: string) => {
      const { stdout, stderr } = await runProgram(
        [...gatewayCommand(), 'operator', 'create', EMAIL, '--password-stdin'],
        { cwd: directory, env: { DATABASE_URL: url }, stdin: new Blob([password]) },
      );
      return `${stdout}${stderr}`.trim();
    };
    expect(await create('short\n')).toBe(
      'error: A password has 12 to 256 characters; this one has 5.',
    );
    expect(await create('correct horse battery\n')).toBe(
      'op@example.com is an operator and signs in at http://127.0.0.1:3001/operator with that password.',
    );
    const { json, refusal } = createTollgate(directory, { DATABASE_URL: url });
    expect(await json('operator', 'list')).toEqual({
      object: 'list',
      data: [
        {
          id: expect.stringMatching(/^user_\w{24}$/),
          object: 'operator',
          email: EMAIL,
          role: 'admin',
          two_factor: false,
          created_at: expect.any(String),
        },
      ],
    });
    expect(await refusal('operator', 'create', EMAIL)).toEqual([1, 'operator_exists']);
    const reset = await json('operator', 'reset', EMAIL);
    expect(Object.keys(reset)).toEqual(['operator', 'token', 'link']);
    expect(await refusal('operator', 'remove', EMAIL)).toEqual([1, 'last_admin']);
    expect(await refusal('operator', 'role', EMAIL, 'viewer')).toEqual([1, 'last_admin']);
    expect(await refusal('operator', 'role', EMAIL, 'root')).toEqual([1, 'invalid_role']);
    expect(await refusal('operator', 'remove', 'b@example.com')).toEqual([1, 'operator_not_found']);
    expect(await refusal('operator', 'reset', 'b@example.com')).toEqual([1, 'operator_not_found']);
    expect(await refusal('operator', 'create', 'unknown')).toEqual([1, 'invalid_email']);
  });
});

test('invite: made with a link that is shown once, listed without it, revoked', async () => {
  const { json, refusal } = open({ BASE_URL: 'https://gate.example' });
  const made = await json(
    'invite',
    'create',
    '--email',
    'a@example.com',
    '--expires',
    '2099-01-31',
  );
  const record = {
    id: expect.stringMatching(/^inv_\w{24}$/),
    object: 'invite',
    email: 'a@example.com',
    status: 'open',
    created_at: expect.any(String),
    expires_at: '2099-01-31T00:00:00.000Z',
  };
  expect(made).toEqual({
    invite: record,
    token: expect.any(String),
    link: `https://gate.example/dashboard/signup?invite=${made['token']}`,
  });
  expect(await json('invite', 'list')).toEqual({ object: 'list', data: [record] });
  const { id } = made['invite'] as { readonly id: string };
  expect(await json('invite', 'revoke', id)).toEqual({
    invite: { ...record, status: 'revoked' },
  });
  expect(await refusal('invite', 'revoke', 'inv_x')).toEqual([1, 'invite_not_found']);
  expect(await refusal('invite', 'create', '--expires', '2020-01-31')).toEqual([
    1,
    'invalid_expiry',
  ]);
});
