// Signs a user in on a page, for tests of what follows. The page itself sends the request, so the
// cookie is the browser's own.

import type { Page } from 'playwright-core';
import { PREFIXES, type Realm } from './session.ts';

/** The page must be one of the application already. Leaves it on its first page. */
export async function signInAs(
  page: Page,
  realm: Realm,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const prefix = PREFIXES[realm];
  const call = { path: `${prefix}/api/auth/login`, body: JSON.stringify({ email, password }) };
  const status = await page.evaluate(
    `fetch(${JSON.stringify(call.path)}, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: ${JSON.stringify(call.body)},
    }).then((response) => response.status)`,
  );
  if (status !== 200) throw new Error(`${email} was not signed in: ${status}`);
  await page.goto(`${new URL(page.url()).origin}${prefix}`);
}
