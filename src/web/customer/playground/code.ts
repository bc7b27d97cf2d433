// A request as code: for the shell, and for the SDK of its format in two languages. All of them read the
// key from API_KEY.

import { PATHS, type RequestBody } from './request.ts';
import type { Format } from './settings.ts';

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
  /** Where the reader has no other way to it. */
  readonly apiKey?: string;
  /** Prints the text of the answer, which has to be there, instead of the answer. */
  readonly printsText?: boolean;
};

export function codeFor(format: Format, body: RequestBody, place: CodePlace) {
  const printed = place.printsText ? `answer.${SDKS[format].text}` : 'answer';
  return {
    curl: curl(format, body, place),
    javascript: javascript(format, body, place, printed),
    python: python(format, body, place, printed),
  };
}

function curl(format: Format, body: RequestBody, { baseUrl, apiKey }: CodePlace): string {
  const unbuffered = body['stream'] === true ? ' -N' : '';
  // Inside single quotes of a shell, only the quote itself needs escaping.
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  const set = apiKey === undefined ? '' : `export API_KEY='${apiKey}'\n`;
  return `${set}curl${unbuffered} ${baseUrl}/v1${PATHS[format]} \\
  -H "Authorization: Bearer $API_KEY" \\
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
  return `# pip install ${module}${setKey(apiKey)}
import os
from ${module} import ${client}

client = ${client}(base_url="${baseUrl}${base}", api_key=os.environ["API_KEY"])
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
  return `// npm install ${module}${setKey(apiKey)}
import ${client} from '${module}';

const client = new ${client}({
  baseURL: '${baseUrl}${base}',
  apiKey: process.env.API_KEY,
});
const answer = await client.${method}(${JSON.stringify(body, null, 2)});
${body['stream'] === true ? each : `console.log(${printed});`}`;
}

const setKey = (apiKey: string | undefined): string =>
  apiKey === undefined ? '' : `; export API_KEY='${apiKey}'`;

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
export function shortenData(body: RequestBody): RequestBody {
  const text = JSON.stringify(body).replaceAll(
    /("(?:(?:image_)?url":"data:[^,"]*,|data":")[A-Za-z0-9+/]{24})[A-Za-z0-9+/]+=*"/g,
    '$1…"',
  );
  return JSON.parse(text) as RequestBody;
}
