// The playground's request as code: for the shell, and for two SDKs in two languages. The key is a
// placeholder, because a session has no key.

import { type Format, PATHS, type RequestBody } from './request.ts';

export const LANGUAGES = [
  ['curl', 'curl'],
  ['python', 'Python'],
  ['javascript', 'JavaScript'],
] as const;

const WRITERS = { curl, python, javascript } as const;

export const KEY_PLACEHOLDER = 'YOUR_API_KEY';

/** `baseUrl` is without /v1. */
export function codeFor(
  language: keyof typeof WRITERS,
  format: Format,
  body: RequestBody,
  baseUrl: string,
): string {
  return WRITERS[language](format, body, baseUrl);
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
  const members = Object.entries(body).map(
    ([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},\n`,
  );
  const call = `(\n${members.join('')})`;
  const streamed = body['stream'] === true;
  const shown = streamed ? 'for event in answer:\n    print(event)' : 'print(answer)';
  return format === 'chat'
    ? `from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key="${KEY_PLACEHOLDER}")
answer = client.chat.completions.create${call}
${shown}`
    : `from anthropic import Anthropic

client = Anthropic(base_url="${baseUrl}", api_key="${KEY_PLACEHOLDER}")
answer = client.messages.create${call}
${shown}`;
}

function javascript(format: Format, body: RequestBody, baseUrl: string): string {
  const json = JSON.stringify(body, null, 2);
  const shown =
    body['stream'] === true
      ? 'for await (const event of answer) console.log(event);'
      : 'console.log(answer);';
  return format === 'chat'
    ? `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${KEY_PLACEHOLDER}' });
const answer = await client.chat.completions.create(${json});
${shown}`
    : `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${baseUrl}', apiKey: '${KEY_PLACEHOLDER}' });
const answer = await client.messages.create(${json});
${shown}`;
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

const DATA_SHOWN = 24;

/** The data of images would fill the page: its beginning stands for it. */
export function shortenData(body: RequestBody): RequestBody {
  const text = JSON.stringify(body, (name, value: unknown) => {
    const start = name === 'url' ? String(value).indexOf(',') + 1 : 0;
    const isData = (name === 'data' || start > 0) && typeof value === 'string';
    return isData && value.length > start + DATA_SHOWN
      ? `${value.slice(0, start + DATA_SHOWN)}…`
      : value;
  });
  return JSON.parse(text) as RequestBody;
}
