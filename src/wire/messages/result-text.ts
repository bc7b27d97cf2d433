// Extracts text that is not in text blocks: documents, search results and found tools. In a tool
// result, anything else is ignored and never refused: a result cannot be taken back, so a refusal
// would end an agent's conversation.

import { invalidRequest } from '../../core/error.ts';
import type { JsonObject } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';

/** Types of a document's source that have no text. */
export const FILES: readonly unknown[] = ['base64', 'url', 'file'];

/** Refuses a document that is a file: a user asks about it, and no model would see it. */
export function refuseFile({ source }: JsonObject, path: string): void {
  if (!isObject(source) || !FILES.includes(source['type'])) return;
  throw invalidRequest(
    `${path}.source.type`,
    'must be "text" or "content": this service reads no files, so send the text of the document',
  );
}

/** The texts of a block other than `text` and `image`; none if its type is unknown. */
export function resultTexts(type: string, fields: JsonObject): string[] {
  switch (type) {
    case 'document':
      return documentTexts(fields);
    case 'search_result':
      return strings([fields['title'], fields['source'], ...textsOf(fields['content'])]);
    case 'tool_reference':
      return strings([fields['tool_name']]);
    default:
      return [];
  }
}

/** Documents given as data, URLs or files have no text. */
function documentTexts({ title, context, source }: JsonObject): string[] {
  if (!isObject(source)) return [];
  const texts = source['type'] === 'text' ? [source['data']] : textsOf(source['content']);
  const said = strings(texts);
  return said.length === 0 ? [] : [...strings([title, context]), ...said];
}

/** Content is a string, or text blocks. */
function textsOf(content: unknown): unknown[] {
  if (!Array.isArray(content)) return [content];
  return content.map((block) => (isObject(block) ? block['text'] : undefined));
}

/** In one array: so many arguments as a body has elements would exceed the stack. */
function strings(values: readonly unknown[]): string[] {
  return values.filter((value): value is string => typeof value === 'string' && value !== '');
}
