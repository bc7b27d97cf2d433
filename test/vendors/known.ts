// Cells that may not hold yet, with what is missing.

import type { Result } from './table.ts';

type Known = {
  readonly rows: RegExp;
  readonly cases: RegExp;
  readonly formats?: RegExp;
  readonly missing: string;
};

export const KNOWN: readonly Known[] = [
  {
    rows: /^(openai-gpt-6|azure|xai|.*-responses-)/,
    cases: /./,
    missing: 'the dialect for Responses',
  },
  { rows: /^vertex/, cases: /./, missing: "Vertex's address and body" },
  { rows: /./, cases: /^leaving/, missing: 'leaving an upstream that may hide thinking' },
  { rows: /claude-opus-4-8/, cases: /./, missing: 'its profile' },
  {
    rows: /claude-(opus-5-5|sonnet-5-5|haiku-5-5|fable-5)/,
    cases: /off|none|prefill|late|forced/,
    missing: 'thinking_off, thinking_binding, prefill and forced_choice of Messages profiles',
  },
  { rows: /claude/, cases: /prefill/, missing: 'prefill of Messages profiles' },
  { rows: /moonshot|qwen/, cases: /prefill/, missing: 'prefill = "partial"' },
  { rows: /zai|minimax-minimax|ollama|k2.6/, cases: /forced/, missing: 'a tool forced in words' },
  { rows: /gemini|minimax|openrouter/, cases: /loop/, missing: 'signatures and details' },
  { rows: /mistral/, cases: /loop|late|parallel|80|ten/, missing: 'thinking as parts' },
  { rows: /minimax/, cases: /refusal|too long/, missing: 'failures in base_resp' },
  { rows: /zai|deepseek|groq|cerebras|glm/, cases: /image/, missing: 'refusing images' },
  { rows: /fireworks/, cases: /off|none/, missing: 'efforts of GLM-5.3 at Fireworks' },
  { rows: /gpt-5.2/, cases: /properties/, missing: 'empty properties' },
];

/** Whether an entry is about a cell. */
export function fits(
  { rows, cases, formats = /./ }: Known,
  { row, name, format }: Result,
): boolean {
  return rows.test(row) && cases.test(name) && formats.test(format);
}

/** Whether a cell is known not to hold. */
export function isKnown(result: Result): boolean {
  return KNOWN.some((known) => fits(known, result));
}
