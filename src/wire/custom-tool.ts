// A tool whose input is text also gets the form of a function, because most upstreams have no other.

import type { CustomTool, Tool } from '../core/generation.ts';

/** What such a tool takes as a function; its calls are turned back for the client. */
const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
} as const;

/** The tool that a client declares with this name, description and grammar. */
export function customTool(
  name: string,
  description: string | undefined,
  grammar: CustomTool['grammar'] | undefined,
): Tool {
  const custom: CustomTool = {
    ...(description !== undefined && { description }),
    ...(grammar && { grammar }),
  };
  const hint = grammarHint(custom);
  return { name, parameters: CUSTOM_PARAMETERS, custom, ...(hint && { description: hint }) };
}

function grammarHint({ description = '', grammar }: CustomTool): string {
  if (grammar === undefined) return description;
  const rule = `The input must match this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return description === '' ? rule : `${description}\n\n${rule}`;
}
