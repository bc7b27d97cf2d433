// Writes the reference pages of both APIs from the descriptions that a server has at /openapi.json and
// /operator/api/v1/openapi.json, and the recorded answers of the customers' pages. Run with `bun run reference`; tests compare them.

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { operatorRoutes } from '../src/dashboard/operator/routes.ts';
import { EXAMPLE_URL } from '../src/docs/page.ts';
import { createDocument } from '../src/openapi/document.ts';
import {
  BODY_CODES,
  COMMON_CODES,
  createOperatorDocument,
} from '../src/openapi/operator-document.ts';
import type { JsonRecord, OpenApiDocument } from '../src/openapi/schemas.ts';
import { anything } from '../test/dashboard/security/routes.ts';
import { blocks, CUSTOMERS, customerPage, PAGES, ROOT, read } from '../test/docs/documents.ts';
import { withAnswers } from './answers.ts';

export const REFERENCE_PAGES = {
  routes: 'src/docs/customers/api.md',
  objects: 'src/docs/customers/api-objects.md',
} as const;
/** Each page with its subject and the first parts of its paths. */
export const OPERATOR_REFERENCE_PAGES = {
  'src/docs/operators/operator-api-reference.md': ['accounts and keys', ['accounts', 'keys']],
  'src/docs/operators/operator-api-reference-money.md': [
    'access, money and requests',
    ['invites', 'blocks', 'codes', 'top-ups', 'money', 'prices', 'requests', 'audit', 'self-audit'],
  ],
  'src/docs/operators/operator-api-reference-service.md': [
    'the service',
    ['models', 'upstreams', 'maintenance', 'alerts'],
  ],
} as const;

type OperatorPage = keyof typeof OPERATOR_REFERENCE_PAGES;

export const OPERATOR_PAGES = Object.keys(OPERATOR_REFERENCE_PAGES) as readonly OperatorPage[];

type Schema = JsonRecord;

type Operation = {
  readonly description: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly content: { readonly [type: string]: { schema: Schema; example: object } };
  };
  readonly responses: {
    readonly [status: string]: {
      readonly content?: { readonly [type: string]: JsonRecord };
      readonly 'x-error-codes'?: readonly string[];
    };
  };
};

const INTRODUCTION = `# API reference

Every route of this service: what it takes, what it answers, and which errors it gives.

\`GET /openapi.json\` has the same as an OpenAPI 3.1 document, for programs that generate clients. Events of
streams are described there under \`x-itemSchema\`, in the form of OpenAPI 3.2. Answers may gain members: ignore
those that you do not know. \`?\` marks members that may be absent. Optional fields of a request may be null.

Send your key as \`Authorization: Bearer YOUR_API_KEY\` or as \`x-api-key: YOUR_API_KEY\`. [Errors](errors.md) explains
every code.
`;

const OBJECTS_INTRODUCTION = `# API objects

What the routes of the [API reference](api.md) take and answer, by the names that it links to.
`;

const SCHEMA_PATH = '#/components/schemas/';

const codes = (all: readonly string[]) => all.map((each) => `\`${each}\``).join(', ');

const operatorIntroduction = (subject: string) => `# API reference for operators: ${subject}

Routes of the [operators' API](operator-api.md): what each takes, what it answers, and which errors it gives.

Paths are below \`/operator/api/v1\` on the listener of the console, where \`GET /openapi.json\` has the same as an
OpenAPI 3.1 document. \`?\` marks members that may be absent. Every route may answer ${codes(COMMON_CODES)};
with a body also ${codes(BODY_CODES)}; with an id also \`not_found\`.
`;

/** Said once, in the introduction. */
const COMMON: ReadonlySet<string> = new Set([...COMMON_CODES, ...BODY_CODES, 'not_found']);

/** The texts of the customers' pages: an own one for objects, which would fill that of the routes. */
export function reference(): Readonly<Record<keyof typeof REFERENCE_PAGES, string>> {
  const page = pageOf(createDocument({ version: '', url: EXAMPLE_URL }), {
    introduction: INTRODUCTION,
    credential: 'key',
    example: exampleOf,
  });
  const [routes = '', objects = ''] = page.split('\n## Objects\n');
  return {
    routes: withAnswers(routes.replaceAll('](#', '](api-objects.md#')),
    objects: `${OBJECTS_INTRODUCTION}${objects.replaceAll(/^###/gm, '##')}`,
  };
}

/** The text of a page for operators. */
export function operatorReference(page: OperatorPage): string {
  const [subject, collections] = OPERATOR_REFERENCE_PAGES[page];
  const isHere = ({ path }: { readonly path: string }) =>
    (collections as readonly string[]).includes(path.split('/')[1] ?? '');
  const routes = operatorRoutes(anything).filter(isHere);
  const document = createOperatorDocument({ version: '', routes });
  // The introduction has it.
  const { '/openapi.json': _itself, ...paths } = document.paths;
  return pageOf(
    { ...document, paths },
    {
      introduction: operatorIntroduction(subject),
      credential: 'token',
      example: operatorExample,
      common: COMMON,
    },
  );
}

type Page = {
  readonly introduction: string;
  /** What a call needs. */
  readonly credential: 'key' | 'token';
  readonly example: Example;
  /** Errors that are not repeated for each route. */
  readonly common?: ReadonlySet<string>;
};

function pageOf(document: OpenApiDocument, page: Page): string {
  const { paths, components } = JSON.parse(JSON.stringify(document));
  const bodyNames = namesInBodies(components.schemas);
  const used = Object.entries<Schema>(components.schemas).filter(([name]) => !isRequest(name));
  const routes = Object.entries<Record<string, Operation>>(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      routeSection(`${method.toUpperCase()} ${path}`, operation, components.schemas, page),
    ),
  );
  const objects = used.map(
    ([name, schema]) => `### ${name}\n\n${objectText(schema, bodyNames.has(name))}`,
  );
  return `${[page.introduction.trim(), ...routes, '## Objects', ...objects].join('\n\n')}\n`;
}

/** Writes a call of a route. */
type Example = (title: string, needsKey: boolean, body: object | undefined) => string;

/** Bodies are described with their routes. */
const isRequest = (name: string): boolean => name.endsWith('Request');

/** The schemas of bodies, and those that they refer to. */
function namesInBodies(schemas: Readonly<Record<string, Schema>>): ReadonlySet<string> {
  const pattern = new RegExp(`"\\$ref":"${SCHEMA_PATH}(\\w+)"`, 'g');
  const names = new Set(Object.keys(schemas).filter(isRequest));
  // The loop also visits the names that it adds.
  for (const name of names) {
    for (const [, inner = ''] of JSON.stringify(schemas[name]).matchAll(pattern)) names.add(inner);
  }
  return names;
}

function routeSection(
  title: string,
  operation: Operation,
  schemas: Readonly<Record<string, Schema>>,
  { credential, example, common = new Set() }: Page,
): string {
  const { description, security, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const fields =
    body === undefined ? undefined : (schemas[nameOf(body.schema) ?? ''] ?? body.schema);
  const needsKey = security === undefined || security.length > 0;
  return [
    `## ${title}`,
    `${description}${needsKey ? '' : ` It needs no ${credential}.`}`,
    ...(title.startsWith('HEAD') ? [] : [example(title, needsKey, body?.example)]),
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['Parameter', 'In', 'Type', 'Meaning'],
            parameters.map((each) => [
              code(each.name),
              each.in,
              typeText(each.schema),
              each.description,
            ]),
          ),
        ]),
    ...(fields === undefined
      ? []
      : [
          table(
            ['Field', 'Type', 'Meaning'],
            membersOf(fields).map(([name, schema, isRequired]) => [
              code(name),
              memberText(schema, true),
              `${isRequired ? 'Required. ' : ''}${String(schema['description'] ?? '')}`,
            ]),
          ),
        ]),
    table(
      ['Status', 'Answer'],
      Object.entries(responses).flatMap(([status, response]) => {
        const text = answerText(response, common);
        return text === '' ? [] : [[status, text]];
      }),
    ),
  ].join('\n\n');
}

function exampleOf(title: string, needsKey: boolean, body: object | undefined): string {
  const path = title
    .replace(/^\w+ /, '')
    .replace('{model}', 'demo-chat')
    .replace('{request_id}', '$REQUEST_ID');
  const lines = [
    `curl ${EXAMPLE_URL}${path}`,
    ...(needsKey ? ['-H "Authorization: Bearer $API_KEY"'] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ];
  const call = `\`\`\`sh\n${lines.join(' \\\n  ')}\n\`\`\``;
  const [page, at = 0] = SHOWN_ANSWERS[title] ?? [];
  const shown = page === undefined ? undefined : blocks(customerPage(page), 'json')[at];
  return [
    call,
    ...(shown === undefined ? [] : [`\`\`\`json answer\n${shown}\`\`\``]),
    ...(RECORDED_ANSWERS[title] ?? []).map((answer) => `\`\`\`${answer}\n\`\`\``),
  ].join('\n\n');
}

/** Blocks of JSON on other pages, which tests hold against a server. */
const SHOWN_ANSWERS: Readonly<Record<string, readonly [page: string, at?: number]>> = {
  'GET /v1/models/{model}': ['models'],
  'GET /v1/account': ['account'],
  'GET /v1/receipts/{request_id}': ['bill', 2],
};

const RECORDED_ANSWERS: Readonly<Record<string, readonly string[]>> = {
  'POST /v1/chat/completions': ['json answer hello chat', 'text answer hello-streamed chat'],
  'POST /v1/messages': ['json answer hello messages', 'text answer hello-streamed messages'],
  'POST /v1/responses': [
    'json answer hello-responses responses',
    'text answer hello-responses-streamed responses',
  ],
};

function operatorExample(title: string, needsKey: boolean, body: object | undefined): string {
  const [method = '', path = ''] = title.split(' ');
  const address = path
    .replace('/accounts/{id}', '/accounts/eve@example.com')
    .replace(/(\w+)s\/\{id\}/, (each, noun) => each.replace('{id}', `$${noun.toUpperCase()}_ID`));
  const isPlain = method === 'GET' || (method === 'POST' && body !== undefined);
  const lines = [
    `curl${isPlain ? '' : ` -X ${method}`} "$CONSOLE/operator/api/v1${address}"`,
    ...(needsKey ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ];
  return `\`\`\`sh\n${lines.join(' \\\n  ')}\n\`\`\``;
}

/** Empty where all errors are common ones. */
function answerText(response: Operation['responses'][string], common: ReadonlySet<string>): string {
  const own = response['x-error-codes']?.filter((each) => !common.has(each));
  if (own !== undefined) return own.map(code).join(', ');
  return (
    Object.entries(response.content ?? {})
      .map(([type, { schema, 'x-itemSchema': items }]) => {
        if (items === undefined) return `${code(type)}: ${typeText(schema as Schema)}`;
        const events = (items as { readonly anyOf: readonly Schema[] }).anyOf;
        return `${code(type)}: events with ${events.map(eventText).join(', ')}`;
      })
      .join('; ') || 'No body.'
  );
}

function eventText(event: Schema): string {
  const { data } = event['properties'] as { readonly data: Schema };
  return typeText((data['contentSchema'] ?? data) as Schema);
}

function objectText(schema: Schema, isBody: boolean): string {
  const about = typeof schema['description'] === 'string' ? `${schema['description']}\n\n` : '';
  if (schema['properties'] === undefined) return `${about}${typeText(schema, isBody)}.`;
  const rows = membersOf(schema).map(([name, member, isRequired]) => [
    code(`${name}${isRequired ? '' : '?'}`),
    memberText(member, isBody),
  ]);
  return `${about}${table(['Member', 'Type'], rows)}`;
}

function membersOf(schema: Schema): readonly (readonly [string, Schema, boolean])[] {
  const required = (schema['required'] ?? []) as readonly string[];
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  return members.map(([name, member]) => [name, member, required.includes(name)]);
}

/** Optional fields of a body may be null; the page says so once. */
function notNull(schema: Schema): Schema {
  const { type, anyOf } = schema;
  if (Array.isArray(type)) return { ...schema, type: type[0] };
  if (!Array.isArray(anyOf) || anyOf.at(-1)?.type !== 'null') return schema;
  return anyOf.length === 2 ? anyOf[0] : { ...schema, anyOf: anyOf.slice(0, -1) };
}

function memberText(schema: Schema, isBody: boolean): string {
  return typeText(isBody ? notNull(schema) : schema, isBody);
}

function typeText(schema: Schema, isBody = false): string {
  const name = nameOf(schema);
  if (name !== undefined) return `[${name}](#${name.toLowerCase()})`;
  if ('const' in schema) return code(JSON.stringify(schema['const']));
  if (Array.isArray(schema['enum'])) {
    return schema['enum'].map((each) => code(JSON.stringify(each))).join(', ');
  }
  if (Array.isArray(schema['anyOf'])) {
    const choices = schema['anyOf'] as readonly Schema[];
    return [...new Set(choices.map((each) => typeText(each, isBody)))].join(' or ');
  }
  const type = schema['type'] ?? 'any value';
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.map((each) => kindText(String(each), schema, isBody)).join(' or ');
}

function kindText(type: string, schema: Schema, isBody: boolean): string {
  const { minimum, exclusiveMinimum, maximum, maxItems, maxLength } = schema;
  switch (type) {
    case 'object': {
      const members = membersOf(schema);
      if (members.length === 0) return 'object';
      const texts = members.map(
        ([name, member, isRequired]) =>
          `${code(`${name}${isRequired ? '' : '?'}`)} ${memberText(member, isBody)}`,
      );
      return `{ ${texts.join('; ')} }`;
    }
    case 'array': {
      if (maxItems === 0) return 'empty array';
      const most = maxItems === undefined ? '' : ` of up to ${maxItems}`;
      const items = typeText((schema['items'] ?? {}) as Schema, isBody);
      // With a colon, one that may be null would read as an array of nulls.
      return Array.isArray(schema['type']) ? `array${most} (${items})` : `array${most}: ${items}`;
    }
    case 'string':
      return maxLength === undefined ? 'string' : `string of up to ${maxLength} characters`;
    case 'integer':
    case 'number': {
      if (exclusiveMinimum !== undefined)
        return `${type} above ${exclusiveMinimum}, up to ${maximum}`;
      if (maximum === undefined) return type;
      return maximum === Number.MAX_SAFE_INTEGER
        ? `${type} from ${minimum}`
        : `${type} from ${minimum} to ${maximum}`;
    }
    default:
      return type;
  }
}

function nameOf(schema: Schema): string | undefined {
  const reference = schema['$ref'];
  return typeof reference === 'string' ? reference.slice(SCHEMA_PATH.length) : undefined;
}

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

if (import.meta.main) {
  for (const page of PAGES.filter((each) => each.startsWith(CUSTOMERS))) {
    writeFileSync(resolve(ROOT, page), withAnswers(read(page)));
  }
  const { routes, objects } = reference();
  writeFileSync(resolve(ROOT, REFERENCE_PAGES.routes), routes);
  writeFileSync(resolve(ROOT, REFERENCE_PAGES.objects), objects);
  for (const page of OPERATOR_PAGES) writeFileSync(resolve(ROOT, page), operatorReference(page));
}
