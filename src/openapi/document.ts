// Builds the description of the public API, OpenAPI 3.1, from the route table, the readers of request
// bodies, the schemas of answers and the error table. Pure; called once by each server that is asked.

import { ERRORS } from '../core/error.ts';
import { servedRoutes } from '../http/routes.ts';
import { errorAnswers } from './errors.ts';
import { errorHeaders } from './headers.ts';
import { OPERATIONS, type OperationRecord } from './operations.ts';
import { hoisted, type JsonRecord, type OpenApiDocument, requestBody, sorted } from './schemas.ts';

const SECURITY = [{ bearer: [] }, { apiKey: [] }];

export function createDocument(options: {
  readonly version: string;
  /** The public address of the server. */
  readonly url: string;
  /** True by default. */
  readonly offersResponses?: boolean;
}): OpenApiDocument {
  const schemas: { [name: string]: JsonRecord } = {};
  const paths: { [path: string]: { [method: string]: JsonRecord } } = {};
  for (const { name, method, path } of servedRoutes(options.offersResponses ?? true)) {
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
      schemas: sorted(schemas),
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
    ...(body === undefined ? {} : requestBody(body.schema, body.texts, record.example)),
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
    headers: { ...headers },
    ...(answer === undefined ? {} : { content }),
  };
  const isGenerated = events !== undefined || record.body !== undefined;
  return Object.fromEntries([
    ['200', whole],
    ...(other === undefined ? [] : [[other.status, { ...whole, ...other.answer }]]),
    ...errorAnswers(format, codes, (those) => errorHeaders(those, isGenerated)),
  ]);
}
