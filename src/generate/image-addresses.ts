// Refuses image addresses that lead to private networks, before any upstream is called. Only names
// take a lookup: the formats refuse what is written as an address.

import { GatewayError, invalidRequest } from '../core/error.ts';
import type { Turn } from '../core/generation.ts';
import { withoutRoot } from '../core/private-address.ts';
import type { FindPrivateHost } from '../upstream/image-hosts.ts';
import { hostOf, isImageAddress, PRIVATE_HOST_RULE } from '../wire/image-type.ts';

/** Each new one is a lookup. */
const HOSTS_MAX = 16;

/** Throws `invalid_request` that names the field. `body` is the one that the turns were read from. */
export async function requirePublicImages(
  findPrivateHost: FindPrivateHost,
  turns: readonly Turn[],
  body: unknown,
): Promise<void> {
  const urls = addressesOf(turns);
  const hosts = new Set(urls.map(nameOf));
  if (hosts.size > HOSTS_MAX) {
    throw new GatewayError('invalid_request', {
      message: `The images have addresses of more than ${HOSTS_MAX} hosts. Use fewer hosts, or send image data.`,
      param: 'messages',
    });
  }
  const found = await findPrivateHost([...hosts]);
  if (found === undefined) return;
  const url = urls.find((each) => nameOf(each) === found);
  throw invalidRequest(pathOf(body, url) ?? 'messages', PRIVATE_HOST_RULE);
}

function addressesOf(turns: readonly Turn[]): readonly string[] {
  const parts = turns.flatMap((turn) => (turn.role === 'user' ? turn.parts : []));
  return parts.flatMap((part) =>
    part.kind === 'image' && isImageAddress(part.url) ? [part.url] : [],
  );
}

const nameOf = (url: string): string => withoutRoot(hostOf(url) ?? '');

/** Where a value is in a body, as in `messages[3].content[1].image_url.url`. */
function pathOf(value: unknown, sought: unknown, path = ''): string | undefined {
  if (value === sought) return path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const at = Array.isArray(value)
      ? `${path}[${name}]`
      : `${path === '' ? '' : `${path}.`}${name}`;
    const found = pathOf(member, sought, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
