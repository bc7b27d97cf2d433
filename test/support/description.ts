// Holds real answers against the description of the API: status, headers, body and each event of a
// stream. The clients of tests pass their responses through `held`; a difference throws where the test
// reads. Published answers may gain members, these may not: what a server adds has to be described.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createDocument } from '../../src/openapi/document.ts';
import type { JsonRecord, OpenApiDocument } from '../../src/openapi/schemas.ts';
import type { SseEvent } from './sse.ts';

type HeaderRecord = { readonly required: boolean; readonly schema: JsonRecord };

type ResponseRecord = {
  readonly headers: Readonly<Record<string, HeaderRecord>>;
  readonly content?: Readonly<Record<string, JsonRecord>>;
};

type Described = { readonly name: string; readonly at: string; readonly response: ResponseRecord };

type EventCheck = {
  readonly event: string;
  /** `undefined` where the data is `[DONE]`. */
  readonly data: ValidateFunction | undefined;
};

/** Headers for proxies and browsers, which no description has. */
const HTTP_HEADERS = new Set([
  ...['cache-control', 'connection', 'content-length', 'content-type', 'date', 'keep-alive'],
  ...['transfer-encoding', 'x-accel-buffering', 'x-content-type-options', 'x-frame-options'],
]);

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;

class Description {
  readonly #document: JsonRecord;
  readonly #ajv = new Ajv2020({ strict: false, formats: { 'date-time': DATE_TIME } });
  readonly #checks = new Map<string, ValidateFunction>();
  readonly #events = new Map<string, readonly EventCheck[]>();
  readonly #paths: readonly { readonly path: string; readonly pattern: RegExp }[];

  /** `prefix` is in front of every path of the document. */
  constructor(document: OpenApiDocument, prefix = '') {
    this.#document = closed(JSON.parse(JSON.stringify(document)));
    this.#ajv.addSchema(this.#document, 'api');
    this.#paths = Object.keys(document.paths).map((path) => ({
      path,
      pattern: new RegExp(`^${prefix}${path.replace(/\{\w+\}/, '[^/]+').replaceAll('.', '\\.')}$`),
    }));
  }

  /** `undefined` for what the description does not have: other paths, and other methods. */
  find(method: string, path: string, status: number): Described | undefined {
    const template = this.#paths.find(({ pattern }) => pattern.test(path))?.path;
    if (template === undefined) return undefined;
    const at = ['paths', template, method.toLowerCase()];
    if (this.#at(at) === undefined) return undefined;
    const place = [...at, 'responses', String(status)];
    const response = this.#at(place);
    const name = `${method} ${template} ${status}`;
    if (response === undefined) throw new Error(`${name} is not in the description`);
    return { name, at: pointer(place), response: response as ResponseRecord };
  }

  checkHeaders({ name, at, response }: Described, headers: Headers): void {
    for (const [header, { required }] of Object.entries(response.headers)) {
      const value = headers.get(header);
      if (value === null && required) throw new Error(`${name} lacks the header ${header}`);
      if (value === null) continue;
      const check = this.#check(`${at}/headers/${header}/schema`);
      const isNumber = /^\d+$/.test(value) && check(Number(value));
      if (!isNumber && !check(value)) throw new Error(`${name} has ${header}: ${value}`);
    }
    for (const [header] of headers) {
      if (Object.hasOwn(response.headers, header) || HTTP_HEADERS.has(header)) continue;
      if (/^(x-|request|retry)/.test(header)) {
        throw new Error(`${name} has the header ${header}, which is not described`);
      }
    }
  }

  checkBody({ name, at, response }: Described, type: string, text: string): void {
    if (response.content?.[type] === undefined) throw new Error(`${name} is not of type ${type}`);
    const check = this.#check(`${at}/content/${escaped(type)}/schema`);
    if (check(JSON.parse(text))) return;
    throw new Error(`${name} differs: ${this.#ajv.errorsText(check.errors)}\n${text}`);
  }

  checkEvent(described: Described, { event, data, json }: SseEvent): void {
    const fits = this.#eventChecks(described).some((check) => {
      if (check.event !== event) return false;
      return check.data === undefined ? data === '[DONE]' : check.data(json) === true;
    });
    if (!fits) throw new Error(`${described.name} has an event that differs: ${event} ${data}`);
  }

  #eventChecks({ at, response }: Described): readonly EventCheck[] {
    const known = this.#events.get(at);
    if (known !== undefined) return known;
    const items = response.content?.['text/event-stream']?.['x-itemSchema'] as
      | { readonly anyOf: readonly { readonly properties: Record<string, JsonRecord> }[] }
      | undefined;
    const checks = (items?.anyOf ?? []).flatMap(({ properties }, index) => {
      const place = `${at}/content/text~1event-stream/x-itemSchema/anyOf/${index}/properties/data`;
      const hasJson = properties['data']?.['contentSchema'] !== undefined;
      const { const: only = '', enum: names = [only] } = properties['event'] ?? {};
      const data = hasJson ? this.#check(`${place}/contentSchema`) : undefined;
      return (names as readonly string[]).map((event) => ({ event, data }));
    });
    this.#events.set(at, checks);
    return checks;
  }

  #check(place: string): ValidateFunction {
    const known = this.#checks.get(place);
    if (known !== undefined) return known;
    const made = this.#ajv.compile({ $ref: `api#${encodeURI(place)}` });
    this.#checks.set(place, made);
    return made;
  }

  #at(place: readonly string[]): unknown {
    return place.reduce<unknown>(
      (value, key) => (value as JsonRecord | undefined)?.[key],
      this.#document,
    );
  }
}

let description: Description | undefined;
const streams = new WeakMap<Response, Described>();

/** The same response, which throws where it is read if it is not as the description says. */
export function held(response: Response, method: string): Response {
  description ??= new Description(createDocument({ version: '', url: 'http://localhost' }));
  return holdTo(description, response, method);
}

/** The same for another document, whose paths are below `prefix`. */
export function holderOf(document: OpenApiDocument, prefix: string) {
  const other = new Description(document, prefix);
  return (response: Response, method: string): Response => holdTo(other, response, method);
}

function holdTo(description: Description, response: Response, method: string): Response {
  const described = description.find(method, new URL(response.url).pathname, response.status);
  if (described === undefined) return response;
  description.checkHeaders(described, response.headers);
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  if (type === 'text/event-stream') streams.set(response, described);
  else holdBody(description, response, described, type);
  return response;
}

function holdBody(
  description: Description,
  response: Response,
  described: Described,
  type: string,
): void {
  const read = response.text.bind(response);
  const text = async (): Promise<string> => {
    const body = await read();
    description.checkBody(described, type, body);
    return body;
  };
  Object.assign(response, { text, json: async () => JSON.parse(await text()) });
}

/** Throws where the event of a response that was held is not as the description says. */
export function holdEvent(response: Response, event: SseEvent): void {
  const described = streams.get(response);
  if (described !== undefined) description?.checkEvent(described, event);
}

/** The same schemas, without any member that they do not name. */
function closed(value: JsonRecord): JsonRecord {
  const visit = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(visit);
    if (typeof each !== 'object' || each === null) return each;
    const visited = Object.fromEntries(
      Object.entries(each).map(([key, member]) => [key, visit(member)]),
    );
    const isFree = Object.keys((visited['properties'] ?? {}) as object).length === 0;
    if (visited['type'] !== 'object' || isFree) return visited;
    return { additionalProperties: false, ...visited };
  };
  return visit(value) as JsonRecord;
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
const pointer = (keys: readonly string[]): string => keys.map((key) => `/${escaped(key)}`).join('');
