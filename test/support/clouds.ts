// Stand-ins for the clouds that sell Anthropic's models. Each is strict: it answers 401 or 403 to a
// request that the real one would refuse, and 400 to a body or a header that it does not have. They
// share no code with the gateway: signatures are computed here from the bytes that arrived.

import { createHash, createHmac, createVerify, generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { SAYS_HELLO } from './behaviours.ts';
import { listen } from './listen.ts';
import { streamFrames, wholeBody } from './render.ts';

export type CloudRequest = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly status: number;
  /** Why it was refused; empty if not. */
  readonly reason: string;
};

type Judged = { readonly status: number; readonly reason: string };
const FINE: Judged = { status: 200, reason: '' };

export type Cloud = {
  /** With a path below the origin, as the real one has it. */
  readonly baseUrl: string;
  readonly requests: CloudRequest[];
  readonly close: () => Promise<void>;
};

type Asked = Pick<CloudRequest, 'path' | 'headers' | 'body'>;

async function startServer(
  pathPrefix: string,
  judge: (asked: Asked) => Judged,
  streams: (asked: Asked) => boolean,
  other?: (asked: Asked, response: ServerResponse) => boolean,
): Promise<Cloud> {
  const requests: CloudRequest[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const asked = { path: request.url ?? '', headers: headersOf(request), body };
      if (other?.(asked, response) === true) return;
      const judged = judge(asked);
      requests.push({ ...asked, ...judged });
      if (judged.status === 200) return answer(response, streams(asked));
      const error = { type: 'error', error: { type: 'refused', message: judged.reason } };
      response.writeHead(judged.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(error));
    });
  });
  const port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}${pathPrefix}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** As they were sent, with names in small letters. */
function headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers[(rawHeaders[at] ?? '').toLowerCase()] = rawHeaders[at + 1] ?? '';
  }
  return headers;
}

function answer(response: ServerResponse, stream: boolean): void {
  const type = stream ? 'text/event-stream' : 'application/json';
  response.writeHead(200, { 'content-type': type });
  if (!stream) return void response.end(wholeBody('messages', 'claude', SAYS_HELLO));
  for (const frame of streamFrames('messages', 'claude', SAYS_HELLO)) response.write(frame);
  response.end();
}

export type AwsAccount = {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

/** Bedrock's endpoint for the Messages format. `nowMs` is its clock, in Unix milliseconds. */
export function startBedrock(account: AwsAccount, nowMs: () => number = Date.now): Promise<Cloud> {
  return startServer(
    '/anthropic',
    (asked) => {
      if (asked.path !== '/anthropic/v1/messages') return { status: 404, reason: asked.path };
      const reason = signatureFault(asked, account, nowMs());
      if (reason !== undefined) return { status: 403, reason };
      if (asked.headers['anthropic-version'] !== '2023-06-01') {
        return { status: 400, reason: 'anthropic-version' };
      }
      const { model } = JSON.parse(asked.body.toString());
      return typeof model === 'string' ? FINE : { status: 400, reason: 'model' };
    },
    streamsInBody,
  );
}

const streamsInBody = ({ body }: Asked): boolean => JSON.parse(body.toString()).stream === true;

/** AWS Signature Version 4, as its reference describes it, for a request without a query. */
function signatureFault(
  { path, headers, body }: Asked,
  { region, accessKeyId, secretAccessKey, sessionToken }: AwsAccount,
  nowMs: number,
): string | undefined {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
  const found = pattern.exec(headers['authorization'] ?? '');
  if (found === null) return 'IncompleteSignature';
  const [, id, day = '', place, service = '', names = '', signature] = found;
  const date = headers['x-amz-date'] ?? '';
  const at = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
  if (at === null || !date.startsWith(day)) return 'no date';
  const [year = 0, month = 0, ...rest] = at.slice(1).map(Number);
  const [dayOfMonth, hour, minute, second] = rest;
  const signedMs = Date.UTC(year, month - 1, dayOfMonth, hour, minute, second);
  if (Math.abs(signedMs - nowMs) > 5 * 60_000) return 'Signature expired';
  if (id !== accessKeyId) return 'UnrecognizedClientException';
  if (place !== region || service !== 'bedrock') return `scope ${place}/${service}`;
  if (headers['x-amz-security-token'] !== sessionToken) return 'ExpiredTokenException';
  const signed = names.split(';');
  const due = ['host', 'content-type', 'anthropic-version', 'x-amz-date'];
  if (sessionToken !== undefined) due.push('x-amz-security-token');
  const missing = due.find((name) => !signed.includes(name));
  if (missing !== undefined) return `unsigned ${missing}`;
  if (signed.join() !== signed.toSorted().join()) return 'unsorted headers';
  const canonical = [
    'POST',
    path.split('/').map(encodeURIComponent).join('/'),
    '',
    ...signed.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    (from, part) => createHmac('sha256', from).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const expected = createHmac('sha256', key).update(text).digest('hex');
  return expected === signature ? undefined : 'SignatureDoesNotMatch';
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

export type Vertex = Cloud & {
  /** The text of a service account's file whose tokens this stand-in issues. */
  readonly account: Readonly<Record<string, string>>;
  /** The same for an authorized user. */
  readonly user: Readonly<Record<string, string>>;
  /** Every token that was issued, oldest first. */
  readonly tokens: string[];
  /** A token as the metadata server of a machine gives it. */
  readonly issueNow: () => string;
  /** How the next tokens are issued; `hang` never answers. */
  issue: { status: number; error?: string; seconds: number; hang?: boolean };
};

/** Vertex AI with its models of Anthropic, and Google's token endpoint. */
export async function startVertex(): Promise<Vertex> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const tokens: string[] = [];
  const expiries = new Map<string, number>();
  const issuing: { issue: Vertex['issue'] } = { issue: { status: 200, seconds: 3_600 } };
  const prefix = '/v1/projects/p/locations/us-east5/publishers/anthropic/models';

  function issueToken({ body, headers }: Asked, response: ServerResponse): void {
    const { status, error, seconds, hang } = issuing.issue;
    if (hang === true) return;
    const form = new URLSearchParams(body.toString());
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const isUser = form.get('grant_type') === 'refresh_token' && form.get('refresh_token') === 'r';
    const isRight = isForm === true && (isUser || isSigned(form.get('assertion') ?? ''));
    response.writeHead(isRight ? status : 400, { 'content-type': 'application/json' });
    if (!isRight || status !== 200) {
      response.end(JSON.stringify({ error: error ?? 'invalid_grant', error_description: 'no' }));
      return;
    }
    const token = newToken(seconds);
    response.end(
      JSON.stringify({ access_token: token, expires_in: seconds, token_type: 'Bearer' }),
    );
  }

  function newToken(seconds: number): string {
    const token = `ya29.${crypto.randomUUID()}`;
    tokens.push(token);
    expiries.set(token, Date.now() + seconds * 1_000);
    return token;
  }

  function isSigned(assertion: string): boolean {
    const [head = '', claims = '', mac = ''] = assertion.split('.');
    if (
      !createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, mac, 'base64url')
    ) {
      return false;
    }
    const { scope } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    return String(scope).endsWith('/auth/cloud-platform');
  }

  function judge({ path, headers, body }: Asked): Judged {
    const [, token = ''] = /^Bearer (.+)$/.exec(headers['authorization'] ?? '') ?? [];
    if ((expiries.get(token) ?? 0) <= Date.now()) return { status: 401, reason: 'UNAUTHENTICATED' };
    const method = /^\/claude-[a-z0-9-]+@\d{8}:(rawPredict|streamRawPredict)$/.exec(
      path.startsWith(prefix) ? path.slice(prefix.length) : '',
    )?.[1];
    if (method === undefined) return { status: 404, reason: path };
    const { model, anthropic_version: version, stream = false } = JSON.parse(body.toString());
    if (model !== undefined) return { status: 400, reason: 'model: Extra inputs' };
    if (version !== 'vertex-2023-10-16') return { status: 400, reason: 'anthropic_version' };
    if (headers['anthropic-version'] !== undefined) return { status: 400, reason: 'header' };
    const isRight = stream === (method === 'streamRawPredict');
    return isRight ? FINE : { status: 400, reason: 'method' };
  }

  const cloud = await startServer(prefix, judge, streamsInBody, (asked, response) => {
    if (asked.path !== '/token') return false;
    issueToken(asked, response);
    return true;
  });
  return Object.assign(issuing, {
    ...{ ...cloud, tokens, issueNow: () => newToken(3_600) },
    user: {
      ...{ type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' },
      token_uri: `${new URL(cloud.baseUrl).origin}/token`,
    },
    account: {
      type: 'service_account',
      project_id: 'p',
      private_key_id: 'k1',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      client_email: 'gateway@p.iam.gserviceaccount.com',
      client_id: '1',
      token_uri: `${new URL(cloud.baseUrl).origin}/token`,
    },
  });
}
