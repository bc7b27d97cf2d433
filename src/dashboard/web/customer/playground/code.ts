// A request as code: for the shell, and for the SDK of its format in two languages. The playground
// has a placeholder instead of a key, because a session has no key.

import { PATHS, type RequestBody } from './request.ts';
import type { Format } from './settings.ts';

export const KEY_PLACEHOLDER = 'YOUR_API_KEY';

/** In the order of the pages. */
export const CODE_LANGUAGES = [
  { id: 'curl', label: 'curl' },
  { id: 'javascript', label: 'JavaScript' },
  { id: 'python', label: 'Python' },
] as const;

const SDKS = {
  chat: {
    python: 'openai',
    javascript: 'openai',
    client: 'OpenAI',
    base: '/v1',
    method: 'chat.completions.create',
    text: 'choices[0].message.content',
  },
  messages: {
    python: 'anthropic',
    javascript: '@anthropic-ai/sdk',
    client: 'Anthropic',
    base: '',
    method: 'messages.create',
    text: 'content[0].text',
  },
  responses: {
    python: 'openai',
    javascript: 'openai',
    client: 'OpenAI',
    base: '/v1',
    method: 'responses.create',
    text: 'output_text',
  },
} as const;

type CodePlace = {
  /** Without /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Prints the text of the answer, which has to be there, instead of the answer. */
  readonly printsText?: boolean;
};

/** The data of images is cut short. */
export function codeFor(format: Format, body: RequestBody, place: CodePlace) {
  const short = shortenData(body);
  const printed = place.printsText ? `answer.${SDKS[format].text}` : 'answer';
  return {
    curl: curl(format, short, place),
    javascript: javascript(format, short, place, printed),
    python: python(format, short, place, printed),
  };
}

function curl(format: Format, body: RequestBody, { baseUrl, apiKey }: CodePlace): string {
  const unbuffered = body['stream'] === true ? ' -N' : '';
  // Inside single quotes of a shell, only the quote itself needs escaping.
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return `curl${unbuffered} ${baseUrl}/v1${PATHS[format]} \\
  -H 'Authorization: Bearer ${apiKey}' \\
  -H 'Content-Type: application/json' \\
  -d '${json}'`;
}

function python(
  format: Format,
  body: RequestBody,
  { baseUrl, apiKey }: CodePlace,
  printed: string,
): string {
  const { python: module, client, base, method } = SDKS[format];
  const members = Object.entries(body).map(
    ([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},\n`,
  );
  return `# pip install ${module}; export TOLLGATE_KEY='${apiKey}'
import os
from ${module} import ${client}

client = ${client}(base_url="${baseUrl}${base}", api_key=os.environ["TOLLGATE_KEY"])
answer = client.${method}(
${members.join('')})
${body['stream'] === true ? 'for event in answer:\n    print(event)' : `print(${printed})`}`;
}

function javascript(
  format: Format,
  body: RequestBody,
  { baseUrl, apiKey }: CodePlace,
  printed: string,
): string {
  const { javascript: module, client, base, method } = SDKS[format];
  const each = 'for await (const event of answer) console.log(event);';
  return `// npm install ${module}; export TOLLGATE_KEY='${apiKey}'
import ${client} from '${module}';

const client = new ${client}({
  baseURL: '${baseUrl}${base}',
  apiKey: process.env.TOLLGATE_KEY,
});
const answer = await client.${method}(${JSON.stringify(body, null, 2)});
${body['stream'] === true ? each : `console.log(${printed});`}`;
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
    /("(?:(?:image_)?url":"data:[^,"]*,|data":")[A-Za-z0-9+/]{24})[A-Za-z0-9+/]+=*"/g,
    '$1…"',
  );
  return JSON.parse(text) as RequestBody;
}
