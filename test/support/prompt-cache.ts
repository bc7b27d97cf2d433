// Anthropic's prompt cache, for the scripted upstream and the stand-in: by credential, by exact prefix, at marked
// blocks only. The rules are from its prompt caching guide: order is tools, system, messages; at
// most four marks; a mark finds an entry at most 20 blocks before it; nothing below a minimum is
// written; `tool_choice` and thinking belong to the messages.

import type { RecordedRequest } from './recorded-request.ts';

type Json = Readonly<Record<string, unknown>>;

const MARKS_MAX = 4;
const LOOK_BACK = 20;
const MINIMUM_TOKENS = 1_024;

export type CacheCounts = {
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
};

/** What a cache sees of a request. Sites share no entries. */
export type CachedRequest = Pick<RecordedRequest, 'site' | 'headers' | 'model' | 'body'>;

export type PromptCache = {
  /** What a request reads from the cache and writes to it; throws where the vendor refuses. */
  readonly count: (request: CachedRequest) => CacheCounts;
};

type Block = { readonly text: string; readonly marked: boolean };

export function createPromptCache(): PromptCache {
  const entries = new Set<string>();
  return {
    count(request) {
      const owner = `${request.site} ${request.headers['x-api-key']} ${request.model}`;
      const blocks = blocksOf(request.body);
      const keys: string[] = [];
      const tokens: number[] = [];
      for (const [at, { text }] of blocks.entries()) {
        keys.push(String(Bun.hash(`${keys[at - 1] ?? owner}\n${text}`)));
        tokens.push((tokens[at - 1] ?? 0) + Math.ceil(text.length / 4));
      }
      const marks = blocks.flatMap(({ marked }, at) => (marked ? [at] : []));
      if (marks.length > MARKS_MAX) throw new Error(`${marks.length} blocks with cache_control`);
      const tokensAt = (at: number): number => tokens[at] ?? 0;
      const hits = marks.flatMap((mark) => {
        const from = Math.max(0, mark - LOOK_BACK + 1);
        const near = keys.slice(from, mark + 1);
        const found = near.findLastIndex((key) => entries.has(key));
        return found === -1 ? [] : [tokensAt(from + found)];
      });
      const cached = Math.max(0, ...hits);
      const long = marks.filter((mark) => tokensAt(mark) >= MINIMUM_TOKENS);
      for (const mark of long) entries.add(keys[mark] ?? '');
      const end = Math.max(0, ...long.map(tokensAt));
      const written = Math.max(0, end - cached);
      return { prompt: tokensAt(blocks.length - 1), cached, written };
    },
  };
}

function blocksOf(body: Json): Block[] {
  const { tools = [], system = [], messages, tool_choice: choice, thinking } = body;
  const settings = JSON.stringify([choice, thinking]);
  return [
    ...listOf(tools).map((tool) => blockOf('tool', tool)),
    ...listOf(system).map((block) => blockOf('system', block)),
    ...(messages as readonly Json[]).flatMap(({ role, content }) =>
      listOf(content).map((block) => blockOf(`${role} ${settings}`, block)),
    ),
  ];
}

function listOf(content: unknown): readonly Json[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Json[]);
}

function blockOf(place: string, { cache_control: mark, ...block }: Json): Block {
  const marked = mark !== undefined;
  const refused = ['thinking', 'redacted_thinking'].includes(String(block['type']));
  if (marked && (refused || block['text'] === '')) throw new Error('a block that takes no mark');
  return { text: `${place} ${JSON.stringify(block)}`, marked };
}
