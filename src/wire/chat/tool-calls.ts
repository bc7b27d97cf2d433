// Reads the calls of an assistant message. The input of a custom call becomes the arguments of a
// function's, so that every upstream can be shown it.

import { Type } from '@sinclair/typebox';
import type { ToolCall } from '../../core/generation.ts';
import {
  described,
  listOf,
  objectOf,
  oneOf,
  readNonEmpty,
  readObject,
  readString,
} from '../check.ts';
import { customArguments } from '../custom-input.ts';

const readType = oneOf('function', 'custom');
const readFunctionCall = objectOf(
  {
    id: readNonEmpty,
    type: oneOf('function'),
    function: objectOf({ name: readNonEmpty, arguments: readString }, ['name', 'arguments']),
  },
  ['id', 'function'],
);
const readCustomCall = objectOf(
  {
    id: readNonEmpty,
    type: oneOf('custom'),
    custom: objectOf({ name: readNonEmpty, input: readString }, ['name', 'input']),
  },
  ['id', 'type', 'custom'],
);

/** The `tool_calls` of a message. */
export const readToolCalls = listOf(
  described(
    Type.Union([readFunctionCall.schema, readCustomCall.schema]),
    (value, path): ToolCall => {
      const type = readType(readObject(value, path)['type'] ?? 'function', `${path}.type`);
      if (type === 'custom') {
        const { id, custom } = readCustomCall(value, path);
        return { id, name: custom.name, arguments: customArguments(custom.input) };
      }
      const { id, function: called } = readFunctionCall(value, path);
      return { id, ...called };
    },
  ),
  {},
);
