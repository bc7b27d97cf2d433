// Reads what an error says into three fields, of any shape: an object of OpenAI's or
// Anthropic's form, a text, a list of FastAPI's, or a web page. Still with the caller's words.

import { isObject } from '../../core/json.ts';
import type { UpstreamSaid } from '../../core/upstream-said.ts';
import { toList, toObject } from './narrow.ts';

/** What is examined further; messages are shown much shorter. */
const LENGTH_MAX = 2_000;

/** The fields of a parsed error; undefined if it says nothing. */
export function readSaid(error: unknown): UpstreamSaid | undefined {
  if (typeof error === 'string') return saidOf({ message: error });
  // FastAPI lists what it rejects, with the value beside it.
  const first = Array.isArray(error) ? error[0] : error;
  if (typeof first === 'string') return saidOf({ message: first });
  const fields = toObject(first);
  const { code, type, param, loc, message, msg, detail, errors, error: text } = fields;
  const nested = [detail, errors].find((value) => isObject(value) || Array.isArray(value));
  if (nested !== undefined && message === undefined) return readSaid(nested);
  return saidOf({
    code: [code, type, fields['status']].find(isCode),
    param: param ?? pathOf(loc),
    message: [message, msg, detail, text, fields['status_msg']].find(isText),
  });
}

/** A body that is no JSON: its text. */
export function readSaidText(body: string): UpstreamSaid | undefined {
  return saidOf({ message: body });
}

/** `{"loc": ["body", "max_tokens"]}` is the parameter `max_tokens`. */
function pathOf(loc: unknown): string | undefined {
  const path = toList(loc).filter((part) => part !== 'body');
  return path.length === 0 ? undefined : path.join('.');
}

/** A number repeats the status. */
function isCode(value: unknown): boolean {
  return isText(value) && !/^[\d.]*$/.test(String(value));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function saidOf(fields: { readonly [Name in keyof UpstreamSaid]: unknown }) {
  const said = Object.entries(fields).flatMap(([name, value]) =>
    isText(value) ? [[name, String(value).slice(0, LENGTH_MAX)]] : [],
  );
  return said.length === 0 ? undefined : (Object.fromEntries(said) as UpstreamSaid);
}
