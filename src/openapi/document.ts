// Builds the description of the public API, OpenAPI 3.1, from the route table, the readers of request
// bodies, the schemas of answers and the error table. Pure; called once by each server that is asked.

import type { TSchema } from '@sinclair/typebox';
import { ERRORS, type ErrorCode } from '../core/error.ts';
import { ROUTES } from '../http/routes.ts';
import { errorAnswers } from './errors.ts';
import { type AnswerHeaders, errorHeaders } from './headers.ts';
import { OPERATIONS, type OperationRecord } from './operations.ts';

export type JsonRecord = { [name: string]: unknown };

export type OpenApiDocument = {
  readonly openapi: string;
  readonly paths: { readonly [path: string]: { readonly [method: string]: JsonRecord } };
  readonly components: { readonly schemas: { readonly [name: string]: JsonRecord } } & JsonRecord;
} & JsonRecord;

const SECURITY = [{ bearer: [] }, { apiKey: [] }];

export function createDocument(options: {
  readonly version: string;
  /** The public address of the server. */
  readonly url: string;
}): OpenApiDocument {
  const schemas: { [name: string]: JsonRecord } = {};
  const paths: { [path: string]: { [method: string]: JsonRecord } } = {};
  for (const { name, method, path } of ROUTES) {
    if (name === 'metrics') continue;
    const template = path.replace(/:(\w+)/, '{$1}');
    const operation = hoisted(operationOf(name, OPERATIONS[name]), schemas);
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: options.version,
      description:
        'Text generation through chat completions and messages. `/docs` explains it in words.',
    },
    servers: [{ url: options.url }],
    security: SECURITY,
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
      schemas: Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
    'x-error-codes': Object.entries(ERRORS).map(([code, { status, retry, text }]) => {
      return { code, status, retry, text };
    }),
  };
}

function operationOf(name: string, record: OperationRecord): JsonRecord {
  const { summary, description, needsKey, parameters, body } = record;
  return {
    operationId: name,
    summary,
    description,
    ...(needsKey ? {} : { security: [] }),
    ...(parameters === undefined
      ? {}
      : { parameters: parameters.map((each) => ({ ...each, required: each.in === 'path' })) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: withTexts(body.schema, body.texts),
                example: record.example,
              },
            },
          },
        }),
    responses: responsesOf(record),
  };
}

function responsesOf(record: OperationRecord): JsonRecord {
  const { answer, events, headers, other, codes, format } = record;
  const content = {
    ...(answer === undefined ? {} : { 'application/json': { schema: answer } }),
    ...(events === undefined ? {} : { 'text/event-stream': { 'x-itemSchema': { anyOf: events } } }),
  };
  const whole = {
    description: 'The answer.',
    headers: headersOf(headers),
    ...(answer === undefined ? {} : { content }),
  };
  const isGenerated = events !== undefined || record.body !== undefined;
  return Object.fromEntries([
    ['200', whole],
    ...(other === undefined ? [] : [[other.status, { ...whole, ...other.answer }]]),
    ...errorAnswers(format, codes).map(({ status, codes: those, schema }) => [
      status,
      {
        description: `One of ${those.join(', ')}.`,
        headers: headersOf(errorHeaders(those, isGenerated)),
        content: { 'application/json': { schema } },
        'x-error-codes': those satisfies readonly ErrorCode[],
      },
    ]),
  ]);
}

function headersOf(headers: AnswerHeaders): JsonRecord {
  return { ...headers };
}

function withTexts(schema: TSchema, texts: Readonly<Record<string, string>>): TSchema {
  const members: Record<string, TSchema> = schema['properties'];
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, member]) => {
      const description = texts[name];
      return [name, description === undefined ? member : { ...member, description }];
    }),
  );
  return { ...schema, properties };
}

/**
 * The same as JSON, with a reference in the place of each named schema, which goes to `schemas`.
 * A field that may be null is written with two types where it has one.
 */
function hoisted(value: unknown, schemas: { [name: string]: JsonRecord }): JsonRecord {
  const visit = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(visit);
    if (typeof each !== 'object' || each === null) return each;
    const { $id: name, ...members } = each as JsonRecord;
    const visited = Object.fromEntries(
      Object.entries(members).map(([key, member]) => [key, visit(member)]),
    );
    if (typeof name !== 'string') return plainNullable(visited);
    schemas[name] = plainNullable(visited);
    return { $ref: `#/components/schemas/${name}` };
  };
  return visit(value) as JsonRecord;
}

function plainNullable(schema: JsonRecord): JsonRecord {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [first, second] = anyOf as readonly JsonRecord[];
  const isNull = Object.keys(second ?? {}).length === 1 && second?.['type'] === 'null';
  if (!isNull || typeof first?.['type'] !== 'string' || 'enum' in first || 'const' in first) {
    return schema;
  }
  return { ...first, ...rest, type: [first['type'], 'null'] };
}
