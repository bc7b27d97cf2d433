// The test browser reports what it is meant to report: each complaint is provoked once.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from './browser.ts';
import { waitUntil } from './upstream.ts';

const PAGES: Readonly<Record<string, string>> = {
  '/': '<!doctype html><html lang="en"><title>t</title><main><h1>Hello</h1></main>',
  '/inline': '<!doctype html><html lang="en"><title>t</title><script>globalThis.ran = 1</script>',
  '/throws': '<!doctype html><title>t</title><script src="/throws.js"></script>',
  '/throws.js': 'setTimeout(() => { throw new Error("planted") })',
  '/foreign': '<!doctype html><title>t</title><img src="http://127.0.0.1:9/x.png">',
  '/refused': '<!doctype html><title>t</title><script src="/fetch.js"></script>',
  '/fetch.js': 'fetch("/missing").then(() => { document.title = "done" })',
  '/mute': '<!doctype html><html lang="en"><title>t</title><main><button></button></main>',
};

let server: Bun.Server<undefined>;
beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      const text = PAGES[pathname];
      const headers = {
        'content-type': pathname.endsWith('.js') ? 'text/javascript' : 'text/html',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; connect-src 'self'; img-src *",
        'set-cookie': '__Host-probe=1; Path=/; Secure; HttpOnly; SameSite=Lax',
        'x-cookie': request.headers.get('cookie') ?? 'none',
      };
      return new Response(text ?? 'nothing', { status: text === undefined ? 404 : 200, headers });
    },
  });
});
afterAll(() => server.stop(true));

describeInBrowser('the browser of the tests', ({ visit }) => {
  test('a quiet page is quiet, and secure cookies work on the loopback', async () => {
    await using visitor = await visit(`${server.url.origin}/`);
    const again = await visitor.page.goto(`${server.url.origin}/`);
    expect(await again?.headerValue('x-cookie')).toBe('__Host-probe=1');
    expect(visitor.complaints()).toEqual([]);
    expect(await visitor.accessibilityFindings()).toEqual([]);
  });

  test.each([
    ['/inline', /^policy: script-src-elem refused inline on \/inline$/],
    ['/throws', /^uncaught: planted$/],
    ['/foreign', /^request: http:\/\/127\.0\.0\.1:9\/x\.png is another origin/],
  ])('%s is complained of', async (path, complaint) => {
    await using visitor = await visit(`${server.url.origin}${path}`);
    await visitor.page.waitForLoadState('load');
    await waitUntil(() => visitor.complaints().some((line) => complaint.test(line)));
  });

  test('a refusal that a page handles is no complaint', async () => {
    await using visitor = await visit(`${server.url.origin}/refused`);
    await waitUntil(async () => (await visitor.page.title()) === 'done');
    expect(visitor.complaints()).toEqual([]);
  });

  test('a button without a name is found', async () => {
    await using visitor = await visit(`${server.url.origin}/mute`);
    expect((await visitor.accessibilityFindings())[0]).toStartWith('button-name: ');
  });
});
