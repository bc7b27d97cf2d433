// Reads the content of messages and of results of calls in a Responses body: a text, or parts.

import { type TSchema, Type } from '@sinclair/typebox';
import { invalidRequest } from '../../core/error.ts';
import type { ContentPart } from '../../core/generation.ts';
import { readImageUrl } from '../chat/message.ts';
import { checkMessageText, described, listOf, oneOf, readObject, readString } from '../check.ts';
import { MESSAGE_TEXT_MAX } from '../limits.ts';
import { textPart } from '../turns.ts';

const readType = oneOf('input_text', 'output_text', 'text', 'refusal', 'input_image');

const TEXT = Type.String({ maxLength: MESSAGE_TEXT_MAX });
const TEXT_PART = Type.Object({
  type: oneOf('input_text', 'output_text', 'text').schema,
  text: TEXT,
});
const REFUSAL_PART = Type.Object({ type: Type.Literal('refusal'), refusal: TEXT });
const IMAGE_PART = Type.Object({
  type: Type.Literal('input_image'),
  image_url: readImageUrl.schema,
});
const contentOf = (...parts: readonly TSchema[]): TSchema =>
  Type.Union([TEXT, Type.Array(Type.Union([...parts]))]);

/** Content of a message that is not the user's. */
export const TEXT_CONTENT = contentOf(TEXT_PART, REFUSAL_PART);

/** Reads content with texts and images; a text is one part. */
export const readContent = described(
  contentOf(TEXT_PART, REFUSAL_PART, IMAGE_PART),
  (value, path): readonly ContentPart[] => {
    if (value === undefined) throw invalidRequest(path, 'is required');
    if (typeof value !== 'string' && !Array.isArray(value)) {
      throw invalidRequest(path, 'must be a string or an array of parts');
    }
    const parts = typeof value === 'string' ? [textPart(value)] : readParts(value, path);
    checkMessageText(parts.map(partText), path);
    return parts.length === 0 ? [textPart('')] : parts;
  },
);

const readParts = listOf(
  described(Type.Union([TEXT_PART, REFUSAL_PART, IMAGE_PART]), (value, path): ContentPart => {
    const part = readObject(value, path);
    const type = readType(part['type'], `${path}.type`);
    if (type === 'input_image') {
      return { kind: 'image', url: readImageUrl(part['image_url'], `${path}.image_url`) };
    }
    const member = type === 'refusal' ? type : 'text';
    return textPart(readString(part[member], `${path}.${member}`));
  }),
  {},
);

/** The text of a part; empty for an image. */
export function partText(part: ContentPart): string {
  return part.kind === 'text' ? part.text : '';
}
