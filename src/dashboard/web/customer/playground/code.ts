// The playground's request as code: for the shell, and for the SDK of its format in two languages. The
// key is a placeholder, because a session has no key.

import { PATHS, type RequestBody } from './request.ts';
import type { Format } from './settings.ts';

export const KEY_PLACEHOLDER = 'YOUR_API_KEY';

const SDKS = {
  chat: {
    python: 'openai',
    javascript: 'openai',
    client: 'OpenAI',
    base: '/v1',
    method: 'chat.completions.create',
  },
  messages: {
    python: 'anthropic',
    javascript: '@anthropic-ai/sdk',
    client: 'Anthropic',
    base: '',
    method: 'messages.create',
  },
} as const;

/** The data of images is cut short. `baseUrl` is without /v1. */
export function codeFor(format: Format, body: RequestBody, baseUrl: string) {
  const short = shortenData(body);
  return [
    { id: 'curl', label: 'curl', code: curl(format, short, baseUrl) },
    { id: 'python', label: 'Python', code: python(format, short, baseUrl) },
    { id: 'javascript', label: 'JavaScript', code: javascript(format, short, baseUrl) },
  ] as const;
}

function curl(format: Format, body: RequestBody, baseUrl: string): string {
  const unbuffered = body['stream'] === true ? ' -N' : '';
  // Inside single quotes of a shell, only the quote itself needs escaping.
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return `curl${unbuffered} ${baseUrl}/v1${PATHS[format]} \\
  -H 'Authorization: Bearer ${KEY_PLACEHOLDER}' \\
  -H 'Content-Type: application/json' \\
  -d '${json}'`;
}

function python(format: Format, body: RequestBody, baseUrl: string): string {
  const { python: module, client, base, method } = SDKS[format];
  const members = Object.entries(body).map(
    ([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},\n`,
  );
  return `from ${module} import ${client}

client = ${client}(base_url="${baseUrl}${base}", api_key="${KEY_PLACEHOLDER}")
answer = client.${method}(
${members.join('')})
${body['stream'] === true ? 'for event in answer:\n    print(event)' : 'print(answer)'}`;
}

function javascript(format: Format, body: RequestBody, baseUrl: string): string {
  const { javascript: module, client, base, method } = SDKS[format];
  const each = 'for await (const event of answer) console.log(event);';
  return `import ${client} from '${module}';

const client = new ${client}({ baseURL: '${baseUrl}${base}', apiKey: '${KEY_PLACEHOLDER}' });
const answer = await client.${method}(${JSON.stringify(body, null, 2)});
${body['stream'] === true ? each : 'console.log(answer);'}`;
}

/** A JSON value as a Python literal. */
function pythonLiteral(value: unknown, indent: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const deeper = `${indent}    `;
  const lines = Array.isArray(value)
    ? value.map((each) => `${deeper}${pythonLiteral(each, deeper)},\n`)
    : Object.entries(value).map(
        ([name, each]) => `${deeper}${JSON.stringify(name)}: ${pythonLiteral(each, deeper)},\n`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join('')}${indent}${close}`;
}

/** The data of images would fill the page: its beginning stands for it. Texts have no bare quotes. */
function shortenData(body: RequestBody): RequestBody {
  const text = JSON.stringify(body).replaceAll(
    /("(?:url":"data:[^,"]*,|data":")[A-Za-z0-9+/]{24})[A-Za-z0-9+/]+=*"/g,
    '$1…"',
  );
  return JSON.parse(text) as RequestBody;
}
