// Ten requests of an agent's conversation with thinking and tools: what the vendor has read before stays
// the beginning of what it reads next, and what it reads from its cache is sold at that price.

import { mustBill } from '../bill.ts';
import { commonPrefix } from '../stand-ins/script.ts';
import type { Json, Seen } from '../stand-ins/server.ts';
import { type Case, type Cell, must, STATION, THINK, talk, WEATHER } from './case.ts';

const REQUESTS = 10;
const LEAST_SHARE = 0.9;

/** Long enough for the largest minimum of a vendor's cache: 4,096 tokens. */
const SYSTEM = 'You are a careful assistant who answers in few words. '.repeat(400);

async function tenRequests(cell: Cell): Promise<void> {
  const { format } = cell;
  const conversation = talk(cell, '[count] [call] Where is it warm?').system(SYSTEM);
  const options = { tools: [WEATHER, STATION], more: THINK[format] };
  for (let index = 0; index < REQUESTS; index += 1) {
    const reply = await conversation.send({ ...options, stream: index % 2 === 0 });
    const seen = cell.seen();
    must(seen.length === index + 1, `request ${index + 1} asked the vendor ${seen.length} times`);
    mustBill(reply.text, cell, seen[index]?.counts);
    if (reply.said.calls.length > 0) conversation.returnResults(reply, `{"degrees":${index}}`);
    else conversation.keep(reply).user(`[call] And on day ${index}?`);
  }
  mustKeepPrefixes(cell.seen());
}

function mustKeepPrefixes(requests: readonly Seen[]): void {
  for (const [index, seen] of requests.entries()) {
    const previous = requests[index - 1];
    if (previous === undefined) continue;
    const earlier = listOf(previous.body);
    const share = commonPrefix(earlier, listOf(seen.body)) / earlier.length;
    const percent = (share * 100).toFixed(1);
    must(share >= LEAST_SHARE, `request ${index + 1} keeps ${percent} % of the one before`);
    must(
      headOf(previous.body) === headOf(seen.body),
      `request ${index + 1} changes system, tools or cache key`,
    );
    const cached = (seen.counts?.cached ?? 0) / (previous.counts?.prompt ?? 1);
    must(cached >= LEAST_SHARE, `request ${index + 1} reads ${(cached * 100).toFixed(1)} %`);
  }
}

/** The list of turns or items without its closing bracket; cache marks move with the conversation. */
function listOf(body: Json): string {
  return textOf(body['messages'] ?? body['input']).slice(0, -1);
}

function headOf({ system, instructions, tools, prompt_cache_key }: Json): string {
  return textOf([system, instructions, tools, prompt_cache_key]);
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (name, each: unknown) => {
    return name === 'cache_control' ? undefined : each;
  });
}

export const CONVERSATIONS: readonly Case[] = [{ name: 'ten requests', run: tenRequests }];
