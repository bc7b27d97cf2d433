// Signs a user in on a page, for tests of what follows.

import type { Page } from 'playwright-core';
import { PREFIXES, type Realm } from './session.ts';

/**
 * The page must be one of the application already. Leaves it on its first page. The request shares
 * the page's cookies, and is not a script of the page: the page may be on its way to the sign-in form,
 * and a navigation can leave a script without an answer.
 */
export async function signInAs(
  page: Page,
  realm: Realm,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const { origin } = new URL(page.url());
  const start = `${origin}${PREFIXES[realm]}`;
  const answer = await page.request.post(`${start}/api/auth/login`, {
    headers: { origin },
    data: { email, password },
  });
  if (answer.status() !== 200) throw new Error(`${email} was not signed in: ${answer.status()}`);
  await page.goto(start);
}
