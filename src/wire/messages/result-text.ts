// Extracts text from tool results that is not in text blocks: documents, search results and found
// tools. Without it, the model would see an empty tool result. Anything else is ignored and never
// refused.

import type { JsonObject } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';

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
