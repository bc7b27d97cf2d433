// Access tokens for upstreams in Google's cloud. Google's library fetches them, keeps them and
// renews them five minutes before they expire. It is loaded with the first token, because few
// installations need it. Failures are of the class `credential`: the customer has no part in them.

import type { AuthClient, OAuth2ClientOptions } from 'google-auth-library';
import { withTimeout } from '../async/timeout.ts';
import { isFailure, type UpstreamFailure } from '../core/failure.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { RemoteUpstream, UpstreamClientDependencies } from './transport.ts';

/** Includes up to three retries of the library. */
const TOKEN_MS = 10_000;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** The address that the library uses for every account. */
const TOKEN_URL = 'https://oauth2.googleapis.com/token';

/** What a file may be. Others would let it name programs to run. */
const ACCOUNT_TYPES: ReadonlySet<unknown> = new Set(['service_account', 'authorized_user']);

/** The errors of RFC 6749, section 5.2. */
const OAUTH_ERROR =
  /^(?:invalid_(?:request|client|grant|scope)|unauthorized_client|unsupported_grant_type)$/;

type Fetch = UpstreamClientDependencies['fetch'];

export function createGoogleTokens(fetch: Fetch) {
  /** By upstream, in one state of the catalog. */
  const clients = new WeakMap<RemoteUpstream, Promise<AuthClient | UpstreamFailure>>();

  async function token(upstream: RemoteUpstream, file?: string): Promise<string | UpstreamFailure> {
    const opening = clients.get(upstream) ?? openClient(upstream, file, fetch);
    clients.set(upstream, opening);
    const got = await opening
      .then((client) => (isFailure(client) ? client : tokenOf(client)))
      .catch((error: unknown) => failed(reasonOf(error)));
    // The next request reads the file again, which the operator may have replaced.
    if (typeof got !== 'string' && clients.get(upstream) === opening) clients.delete(upstream);
    return got;
  }

  /** Without a file, uses the credentials of the environment. Never rejects. */
  return (upstream: RemoteUpstream, file?: string): Promise<string | UpstreamFailure> =>
    withTimeout(TOKEN_MS, token(upstream, file), LATE);
}

async function openClient(
  { proxyUrl }: RemoteUpstream,
  file: string | undefined,
  fetch: Fetch,
): Promise<AuthClient | UpstreamFailure> {
  const account = file === undefined ? undefined : await readAccount(file);
  if (account !== undefined && isFailure(account)) return account;
  const { GoogleAuth, JWT, UserRefreshClient } = await import('google-auth-library');
  const ownUrl = account?.['token_uri'];
  const options: OAuth2ClientOptions = {
    transporterOptions: {
      timeout: TOKEN_MS,
      // The library ignores the address in the file.
      fetchImplementation: (input, init) => {
        const url = String(input);
        return fetch(url === TOKEN_URL && typeof ownUrl === 'string' ? ownUrl : url, {
          ...(init as BunFetchRequestInit),
          ...(proxyUrl !== undefined && { proxy: proxyUrl }),
        });
      },
    },
  };
  if (account === undefined) {
    return new GoogleAuth({ scopes: SCOPE, clientOptions: options }).getClient();
  }
  const isService = account['type'] === 'service_account';
  const client = isService
    ? new JWT({ ...options, scopes: SCOPE })
    : new UserRefreshClient(options);
  client.fromJSON(account);
  return client;
}

async function readAccount(file: string): Promise<Record<string, unknown> | UpstreamFailure> {
  const text = await Bun.file(file)
    .text()
    .catch(() => undefined);
  if (text === undefined) return failed('its credentials_file cannot be read');
  const account = parseJson(text);
  if (isObject(account) && ACCOUNT_TYPES.has(account['type'])) return { ...account };
  return failed(
    'its credentials_file is not the key of a service account or of an authorized user',
  );
}

async function tokenOf(client: AuthClient): Promise<string | UpstreamFailure> {
  const { token } = await client.getAccessToken();
  return token ?? failed('Google sent no token');
}

/** In our own words: errors of the library may quote the file. */
function reasonOf(error: unknown): string {
  const response: unknown = isObject(error) ? error['response'] : undefined;
  if (!isObject(response)) {
    const words = error instanceof Error ? error.message : '';
    if (words.includes('default credentials')) {
      return 'there are no application default credentials; set google.credentials_file';
    }
    return 'the token endpoint cannot be reached, or the credentials cannot sign';
  }
  const { status, data } = response;
  const given = isObject(data) ? String(data['error']) : '';
  const code = OAUTH_ERROR.test(given) ? ` ${given}` : '';
  return `the token endpoint answered with status ${status}${code}`;
}

function failed(reason: string): UpstreamFailure {
  return { class: 'credential', phase: 'connect', detail: `no token from Google: ${reason}` };
}

const LATE = failed(`none came within ${TOKEN_MS / 1_000} seconds`);
