// What the entries of `messages` and the system prompt of a Messages body may hold, for the API
// description. The reader beside it checks the same in code.

import { type TSchema, Type } from '@sinclair/typebox';
import { nullable, readNonEmpty, readObject } from '../check.ts';
import { MESSAGE_TEXT_MAX } from '../limits.ts';
import { readImage } from './image.ts';
import { FILES } from './result-text.ts';

const ANY = Type.Optional(Type.Unknown());
const TEXT = Type.String({ maxLength: MESSAGE_TEXT_MAX });
const textBlock = (text: TSchema) => Type.Object({ type: Type.Literal('text'), text });
const TEXT_BLOCK = textBlock(TEXT);
const IMAGE_BLOCK = Type.Object({ type: Type.Literal('image'), source: readImage.schema });
const THINKING_BLOCK = Type.Object({ type: Type.Literal('thinking'), thinking: TEXT });
const TOOL_USE_BLOCK = Type.Object({
  type: Type.Literal('tool_use'),
  id: readNonEmpty.schema,
  name: readNonEmpty.schema,
  input: Type.Optional(nullable(readObject.schema)),
});

/** A document of a user, as far as its content is text. */
const DOCUMENT_BLOCK = Type.Object({
  type: Type.Literal('document'),
  title: ANY,
  context: ANY,
  source: Type.Optional(
    Type.Unsafe({
      description: 'Of the type `text` or `content`.',
      not: { type: 'object', properties: { type: { enum: FILES } }, required: ['type'] },
    }),
  ),
});
const SEARCH_RESULT_BLOCK = Type.Object({
  type: Type.Literal('search_result'),
  title: ANY,
  source: ANY,
  content: ANY,
});

/** Content with these kinds of blocks, or blocks of an ignored type. */
function contentOf(
  blocks: readonly TSchema[],
  refused: readonly string[],
  minItems: number,
  text: TSchema = TEXT,
) {
  const known = blocks.map((block) => block['properties'].type.const);
  const ignored = Type.Object(
    { type: Type.Unsafe({ type: 'string', not: { enum: [...known, ...refused] } }) },
    { description: 'A block of another type. It is ignored.' },
  );
  return Type.Union([text, Type.Array(Type.Union([...blocks, ignored]), { minItems })]);
}

/** The `system` field; bounded only by the size of the body. */
export const SYSTEM = contentOf([textBlock(Type.String())], [], 0, Type.String());
/** The content of a tool result. */
export const RESULT_CONTENT = contentOf([TEXT_BLOCK, IMAGE_BLOCK], [], 0);
const TOOL_RESULT_BLOCK = Type.Object({
  type: Type.Literal('tool_result'),
  tool_use_id: readNonEmpty.schema,
  content: Type.Optional(nullable(RESULT_CONTENT)),
});

const OF_USER = [TEXT_BLOCK, IMAGE_BLOCK, DOCUMENT_BLOCK, SEARCH_RESULT_BLOCK, TOOL_RESULT_BLOCK];

/** One entry of `messages`. */
export const MESSAGE = Type.Union(
  [
    Type.Object({ role: Type.Literal('user'), content: contentOf(OF_USER, ['tool_use'], 1) }),
    Type.Object({
      role: Type.Literal('assistant'),
      content: contentOf([TEXT_BLOCK, THINKING_BLOCK, TOOL_USE_BLOCK], ['tool_result', 'image'], 0),
    }),
    Type.Object({ role: Type.Literal('system'), content: contentOf([TEXT_BLOCK], [], 0) }),
  ],
  { $id: 'InputMessage' },
);
