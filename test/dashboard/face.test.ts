// The operator's name, logo, colours and links over HTTP: on pages for strangers, in the documentation
// and in the applications, with and without the switches of what is public.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newEmail, openSignUp, signUp } from '../support/customer.ts';
import { faceCatalog, LOGO, writeLogo } from '../support/face.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { waitUntil } from '../support/upstream.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let gateway: Gateway;
let mailbox: Mailbox;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollgate-face-'));
  await writeLogo(directory);
  mailbox = await openMailbox();
  gateway = await startGateway({
    directory,
    catalog: faceCatalog(),
    environment: openSignUp(mailbox),
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await mailbox[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

function ask(path: string, headers: Record<string, string> = BROWSER): Promise<Response> {
  return fetch(`${gateway.url}${path}`, { headers, redirect: 'manual' });
}

const textOf = async (path: string, headers?: Record<string, string>): Promise<string> =>
  (await ask(path, headers)).text();

async function withService(lines: string, body: () => Promise<void>): Promise<void> {
  const reloaded = async (text: string) => {
    await gateway.writeCatalog(text);
    await gateway.run('catalog', 'reload');
  };
  await reloaded(faceCatalog(lines));
  try {
    await body();
  } finally {
    await reloaded(faceCatalog());
  }
}

describe('the landing page', () => {
  test('shows name, tagline, links, models and their prices in the currency', async () => {
    const text = await textOf('/');
    for (const part of [
      '<title>Acme &lt;AI&gt; &amp; Sons</title>',
      '<h1>Models of our own</h1>',
      'href="https://acme.example/terms"',
      'href="https://acme.example/privacy"',
      'href="https://status.acme.example"',
      'href="https://acme.example/help"',
      'href="/dashboard/sign-in"',
      'href="/dashboard/signup"',
      'href="/docs"',
      'Demo Chat',
      // 0.15 USD at 0.5 EUR.
      '€0.075',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain('Tollgate');
    expect(text).not.toMatch(/<script|<style|\sstyle=|\son\w+=/);
  });

  test('names the formats that clients may use', async () => {
    await using without = await startGateway({ environment: { RESPONSES_FORMAT: 'off' } });
    for (const [url, offered] of [
      [gateway.url, true],
      [without.url, false],
    ] as const) {
      for (const language of ['en', 'de', 'zh']) {
        const headers = { ...BROWSER, 'accept-language': language };
        const text = await (await fetch(`${url}/`, { headers })).text();
        expect(text).toContain('Messages');
        expect([url, language, text.includes('Responses')]).toEqual([url, language, offered]);
        expect(text).not.toMatch(/\p{Script=Han}, /u);
      }
    }
  });

  test('is for browsers alone: programs keep their answer', async () => {
    for (const headers of [{ accept: '*/*' }, { accept: 'application/json' }, {}]) {
      const response = await ask('/', headers);
      expect(response.headers.get('vary')).toBe('accept');
      expect(await response.json()).toMatchObject({ service: 'tollgate', docs: '/docs' });
    }
    const head = await fetch(`${gateway.url}/`, { method: 'HEAD', headers: BROWSER });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, null]);
    const models = await ask('/models', { accept: 'application/json' });
    expect(models.status).toBe(404);
    const posted = await fetch(`${gateway.url}/models`, { method: 'POST', headers: BROWSER });
    expect(posted.status).toBe(404);
  });

  test('a browser that follows a link to nowhere gets a page with a way back', async () => {
    for (const path of ['/nope', '/operator', '/nope/%zz?language=de']) {
      const response = await ask(path, { ...BROWSER, 'accept-language': 'de' });
      const { status, headers } = response;
      expect([path, status, headers.get('cache-control')]).toEqual([path, 404, 'no-store']);
      const text = await response.text();
      expect(text).toContain('<html lang="de">');
      expect(text).toContain('href="/">Zur Startseite');
      expect(text).not.toContain('nope');
    }
    for (const [path, accept] of [
      ['/nope', 'application/json'],
      ['/nope', '*/*'],
      ['/v1/nope', BROWSER.accept],
    ] as const) {
      const response = await ask(path, { accept });
      expect([response.status, await response.json()]).toMatchObject([
        404,
        { error: { code: 'not_found' } },
      ]);
    }
    const posted = await fetch(`${gateway.url}/nope`, { method: 'POST', headers: BROWSER });
    expect(posted.headers.get('content-type')).toContain('application/json');
  });

  test('is in the language of the visitor, who can choose another one', async () => {
    const german = await textOf('/', { ...BROWSER, 'accept-language': 'de' });
    expect(german).toContain('<html lang="de">');
    const chosen = await ask('/models?language=zh');
    expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/models']);
    const cookie = chosen.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(await textOf('/models', { ...BROWSER, cookie })).toContain('<html lang="zh">');
    expect(await textOf('/?language=xx')).toContain('<html lang="en">');
  });

  test('is revalidated, and rendered once for each kind of visitor', async () => {
    const first = await ask('/');
    const etag = first.headers.get('etag') ?? '';
    const again = await ask('/', { ...BROWSER, 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const start = performance.now();
    for (let count = 0; count < 200; count += 1) await textOf(`/?x=${count}`);
    // Rendering takes a millisecond, and 10,000 models would take more.
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  test('offers the dashboard to a customer who is signed in', async () => {
    const { session } = await signUp(gateway, mailbox, newEmail());
    const cookie = session.cookie();
    const text = await textOf('/', { ...BROWSER, cookie });
    expect(text).toContain('href="/dashboard">Open dashboard');
    expect(text).not.toContain('/dashboard/signup');
  });

  test('can be switched off, and so can the models and the documentation', async () => {
    const where = async (path: string, headers?: Record<string, string>) => {
      const response = await ask(path, headers);
      return [response.status, response.headers.get('location')];
    };
    const { session } = await signUp(gateway, mailbox, newEmail());
    const cookie = session.cookie();
    expect(await where('/docs')).toEqual([200, null]);
    await withService('public = { landing = false, models = false, docs = false }', async () => {
      expect(await where('/')).toEqual([303, '/dashboard']);
      expect(await where('/models')).toEqual([303, '/dashboard/models']);
      expect(await where('/docs')).toEqual([303, '/dashboard/sign-in']);
      expect(await where('/docs/errors.md')).toEqual([303, '/dashboard/sign-in']);
      expect(await where('/docs', { ...BROWSER, cookie })).toEqual([200, null]);
      expect(await where('/docs', { cookie: '__Host-tollgate=x' })).toEqual([
        303,
        '/dashboard/sign-in',
      ]);
    });
    await withService('public = { models = false, docs = false }', async () => {
      const text = await textOf('/');
      expect(text).not.toContain('href="/models"');
      expect(text).not.toContain('href="/docs"');
    });
  });
});

describe('the face', () => {
  test('is in the HTML of both applications and of the customers’ documentation', async () => {
    const pages = [
      await textOf('/dashboard'),
      await (await fetch(`${gateway.operatorUrl()}/operator`)).text(),
      await textOf('/docs'),
    ];
    for (const text of pages) {
      expect(text).toContain('Acme &lt;AI&gt; &amp; Sons');
      expect(text).toMatch(/<link rel="icon" href="[^"]+\/service\/logo-\w+\.svg">/);
      expect(text).toMatch(/<link rel="stylesheet" href="[^"]+\/service\/colours-\w+\.css">/);
      expect(text).not.toContain('<AI>');
    }
    const operators = await (await fetch(`${gateway.operatorUrl()}/operator/docs`)).text();
    expect(operators).toContain('Tollgate');
    expect(operators).not.toContain('Acme');
  });

  test('the logo runs no script, even when it is opened by itself', async () => {
    const [, path = ''] = /rel="icon" href="([^"]+)"/.exec(await textOf('/')) ?? [];
    const response = await ask(path);
    expect(await response.text()).toBe(LOGO);
    expect(response.headers.get('content-type')).toBe('image/svg+xml');
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    );
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('cache-control')).toContain('immutable');
    for (const wrong of ['/dashboard/service/logo-x.svg', '/dashboard/service/', `${path}/..%2f`]) {
      expect((await ask(wrong)).status).toBe(404);
    }
  });

  test('the colours are tokens for light and dark', async () => {
    const [, path = ''] = /href="([^"]+colours-\w+\.css)"/.exec(await textOf('/')) ?? [];
    const response = await ask(path);
    expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(await response.text()).toContain('--accent:light-dark(#7a1f4b,#f3a6c8)');
  });

  test('mails are signed with the name and the address for questions', async () => {
    const email = newEmail();
    await signUp(gateway, mailbox, email);
    const [mail] = await mailbox.mailsTo(email);
    expect(mail?.text).toContain(
      'This mail was sent by Acme <AI> & Sons. Questions: help@acme.example',
    );
  });

  test('a logo that changes is served without a restart', async () => {
    const iconOf = async () => /rel="icon" href="([^"]+)"/.exec(await textOf('/'))?.[1];
    const before = await iconOf();
    await Bun.write(join(directory, 'acme.svg'), LOGO.replace('32', '64'));
    await waitUntil(async () => (await iconOf()) !== before, 10_000);
    await writeLogo(directory);
    await waitUntil(async () => (await iconOf()) === before, 10_000);
  });
});
