// Cases with tools: loops that keep the model's thinking, forced tools, schemas and names.

import type { Tool } from '../conversation.ts';
import { SAYS } from '../stand-ins/script.ts';
import {
  type Case,
  type Cell,
  must,
  mustCall,
  mustReturnThinking,
  mustSay,
  STATION,
  THINK,
  talk,
  WEATHER,
} from './case.ts';

const LONG_NAME = `look_up_${'x'.repeat(72)}`;

type LoopOptions = {
  readonly stream?: boolean;
  /** Whether the client drops thinking. */
  readonly loses?: boolean;
};

/** Two calls with their results, and an answer. */
async function loop(cell: Cell, word: string, options: LoopOptions = {}): Promise<void> {
  const { stream = false, loses = false } = options;
  const conversation = talk(cell, word);
  if (loses) conversation.loseThinking();
  for (const turn of [0, 1, 2]) {
    const more = THINK[cell.format];
    const reply = await conversation.send({ stream, tools: [WEATHER], more });
    if (turn < 2) {
      mustCall(reply, WEATHER.name);
      const [call] = reply.said.calls;
      must(call?.json === SAYS.arguments, `the arguments are ${call?.json}`);
      conversation.returnResults(reply);
    } else mustSay(reply, SAYS.text);
  }
  mustReturnThinking(cell);
}

/** The second answer of an agent that adds a tool while the loop goes on. */
async function lateTool(cell: Cell): Promise<void> {
  const both = [WEATHER, STATION];
  const conversation = talk(cell, '[call]');
  const more = THINK[cell.format];
  const first = await conversation.send({ tools: [WEATHER], more });
  mustCall(first, WEATHER.name);
  const second = await conversation.returnResults(first).send({ tools: both, more });
  mustCall(second, WEATHER.name);
  const third = await conversation.returnResults(second).send({ tools: both, more });
  mustSay(third, SAYS.text);
}

/** A forced tool; with `any`, the only one there is. */
async function forced(cell: Cell, force: string): Promise<void> {
  const tools = force === 'any' ? [STATION] : [WEATHER, STATION];
  for (const stream of [false, true]) {
    mustCall(await talk(cell, 'Go on.').send({ tools, force, stream }), STATION.name);
  }
}

async function parallel(cell: Cell): Promise<void> {
  const tools = [WEATHER, STATION];
  for (const stream of [false, true]) {
    const conversation = talk(cell, '[calls]');
    const reply = await conversation.send({ tools, stream });
    mustCall(reply, WEATHER.name, STATION.name);
    const ids = new Set(reply.said.calls.map((call) => call.id));
    must(ids.size === 2, 'both calls have one id');
    mustSay(await conversation.returnResults(reply).send({ tools, stream }), SAYS.text);
  }
}

async function oneAtATime(cell: Cell): Promise<void> {
  const more =
    cell.format === 'messages'
      ? { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }
      : { parallel_tool_calls: false };
  mustCall(await talk(cell, '[call]').send({ tools: [WEATHER, STATION], more }), WEATHER.name);
}

/** Tools without `properties`: an empty object, and where the format allows it no schema at all. */
async function withoutProperties(cell: Cell): Promise<void> {
  const empty: Tool = { name: WEATHER.name, schema: { type: 'object' } };
  const tools = cell.format === 'messages' ? [empty] : [empty, { name: STATION.name }];
  const reply = await talk(cell, '[call]').send({ tools });
  mustCall(reply, WEATHER.name);
}

async function longName(cell: Cell): Promise<void> {
  const tools = [{ ...WEATHER, name: LONG_NAME }];
  const conversation = talk(cell, '[call]');
  const first = await conversation.send({ tools });
  mustCall(first, LONG_NAME);
  mustCall(await conversation.returnResults(first).send({ tools, stream: true }), LONG_NAME);
}

export const TOOLS: readonly Case[] = [
  { name: 'loop', run: (cell) => loop(cell, '[call]') },
  { name: 'loop streamed', run: (cell) => loop(cell, '[call]', { stream: true }) },
  { name: 'loop, thinking lost', run: (cell) => loop(cell, '[call]', { loses: true }) },
  {
    name: 'mixed turn',
    applies: (row) => row.mixed,
    run: (cell) => loop(cell, '[mixed]'),
  },
  {
    name: 'mixed turn streamed',
    applies: (row) => row.mixed,
    run: (cell) => loop(cell, '[mixed]', { stream: true }),
  },
  { name: 'late tool', run: lateTool },
  { name: 'forced by name', run: (cell) => forced(cell, STATION.name) },
  { name: 'forced to any', run: (cell) => forced(cell, 'any') },
  {
    name: 'tools forbidden',
    run: async (cell) => {
      mustSay(await talk(cell, '[call]').send({ tools: [WEATHER], force: 'none' }), SAYS.text);
    },
  },
  { name: 'parallel calls', run: parallel },
  { name: 'one call at a time', run: oneAtATime },
  { name: 'no properties', run: withoutProperties },
  { name: 'name of 80', run: longName },
];
