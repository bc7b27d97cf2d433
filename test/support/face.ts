// A catalog whose [service] has every key, for tests of what customers see of it.

import { join } from 'node:path';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';

/** With a script, which no page may run. */
export const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><script>document.title = "run"</script><rect width="32" height="32"/></svg>';

const FACE = `name = "Acme <AI> & Sons"
tagline = "Models of our own"
logo = "acme.svg"
accent = { light = "#7a1f4b", dark = "#f3a6c8" }
support_email = "help@acme.example"
support_url = "https://acme.example/help"
terms_url = "https://acme.example/terms"
privacy_url = "https://acme.example/privacy"
status_url = "https://status.acme.example"
currency = { code = "EUR", per_usd = "0.5" }
`;

/** The demonstration catalog of this service. `lines` are further keys of [service]. */
export function faceCatalog(lines = '', face = FACE): string {
  return DEMO_CATALOG.replace('[service]\n', () => `[service]\n${face}${lines}\n`);
}

/** A folder with the logo, for a gateway to start in. */
export async function writeLogo(directory: string): Promise<void> {
  await Bun.write(join(directory, 'acme.svg'), LOGO);
}
